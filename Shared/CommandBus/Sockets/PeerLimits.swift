import CSocketGuard

#if canImport(Glibc)
    import Glibc
#endif

/// What the peers of a listening socket may do before their connections are closed.
struct PeerLimits: Sendable {
    /// The most connections at a time.
    var maxPeers = 1_024
    /// The most frames of a message. Each costs ZeroMQ 64 bytes, even an empty one.
    var maxFrames = 16_384
    /// The most bytes of all frames of a message together.
    var maxMessageBytes: Int
    /// The most messages that one connection may send; 0 is any number.
    var maxMessages = 0

    /// What a process needs beside the connections of its bus sockets, such as files.
    private static let otherDescriptors = 256
    /// How many bus sockets share what is left.
    private static let sockets = 4

    /// Has a listening socket's connections watched until it is closed.
    func guardListener(_ descriptor: Int32) throws(BusError) {
        var limits = msi_guard_limits(
            max_peers: UInt32(clamping: peersWithinDescriptors), max_frames: UInt32(clamping: maxFrames),
            max_message_bytes: UInt64(clamping: maxMessageBytes), max_messages: UInt64(clamping: maxMessages))
        guard msi_guard_listener(descriptor, &limits) == 0 else {
            throw BusError(.system, "the connections of a socket cannot be limited: \(ZeroMQFault(number: ENOMEM))")
        }
    }

    private var peersWithinDescriptors: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return maxPeers }
        let room = (Int(clamping: limit.rlim_cur) - Self.otherDescriptors) / Self.sockets
        return min(maxPeers, max(room, 16))
    }
}

/// What happened to the connections of a listening socket so far.
struct PeerCounts: Hashable, Sendable {
    /// How many there are.
    var peers = 0
    /// How many were refused, because there were too many or no descriptor was left.
    var refused = 0
    /// How many were closed because of what they sent.
    var dropped = 0

    init() {}

    init(of descriptor: Int32) {
        let counts = msi_guard_counts(descriptor)
        peers = Int(clamping: counts.peers)
        refused = Int(clamping: counts.refused)
        dropped = Int(clamping: counts.dropped)
    }
}
