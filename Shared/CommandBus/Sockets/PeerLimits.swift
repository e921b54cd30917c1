import CSocketGuard

#if canImport(Glibc)
    import Glibc
#endif

/// The limits for the peers of a listening socket. A connection that exceeds one is closed.
struct PeerLimits: Sendable {
    /// The maximum number of connections.
    var maxPeers = 1_024
    /// The maximum number of frames of a message. ZeroMQ keeps each frame in the buffer of 18 KiB that it was received in, so these
    /// take at most 18 MiB, even if they come slowly and in small pieces.
    var maxFrames = 1_024
    /// The maximum size of a message, all frames together, in bytes.
    var maxMessageBytes: Int
    /// The maximum number of messages on one connection; 0 for no limit.
    var maxMessages = 0

    /// Encrypted frames show neither where a message ends nor what a heartbeat is. So the limits that remain are those of a frame
    /// and of the connections. Until a peer's key is known, ZeroMQ takes nothing but the handshake from it.
    mutating func isEncrypted() {
        maxMessages = 0
        maxMessageBytes += Self.encryptionBytes
    }

    /// What encryption adds to a frame at most: its name, number, flags and authentication.
    static let encryptionBytes = 64

    /// The descriptors that a process needs for other things, such as files.
    private static let otherDescriptors = 256
    /// The number of bus sockets that share the rest.
    private static let sockets = 4

    /// Applies the limits to a listening socket's connections until it is closed.
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

/// Counts of a listening socket's connections.
struct PeerCounts: Hashable, Sendable {
    /// Open connections.
    var peers = 0
    /// Connections that were refused, because there were too many or no descriptor was left.
    var refused = 0
    /// Connections that were closed for exceeding a limit.
    var dropped = 0

    init() {}

    init(of descriptor: Int32) {
        let counts = msi_guard_counts(descriptor)
        peers = Int(clamping: counts.peers)
        refused = Int(clamping: counts.refused)
        dropped = Int(clamping: counts.dropped)
    }
}
