import CZeroMQ
import FoundationEssentials
import Logging
import Synchronization

/// A publisher's PUB socket.
///
/// The bus thread owns it once it is attached. Only ``pending`` is shared.
final class PublisherSocket: BusParticipant, @unchecked Sendable {
    private let bound: BoundSocket
    private var isClosed = false
    /// Events in the work queue that are not sent yet.
    let pending = Atomic<Int>(0)

    /// The maximum size of a subscription in bytes, and the maximum number of subscriptions and unsubscriptions
    /// on one connection.
    private static let (maxSubscriptionBytes, maxSubscriptions) = (1_024, 1_000)

    init(bus: Bus, endpoint: String, limits: EventLimits, logger: Logger) throws(BusError) {
        let peers = PeerLimits(
            maxPeers: limits.maxPeers, maxMessageBytes: Self.maxSubscriptionBytes, maxMessages: Self.maxSubscriptions)
        bound = try BoundSocket(
            ZMQ_PUB, at: endpoint, context: bus.context, security: bus.security, limits: peers, logger: logger
        ) { socket throws(BusError) in
            try socket.set(ZMQ_MAXMSGSIZE, Int64(peers.maxMessageBytes))
            try socket.set(ZMQ_SNDHWM, Int32(clamping: max(limits.maxPending, 1)))
            try socket.set(ZMQ_BACKLOG, Int32(4_096))
            try socket.set(ZMQ_LINGER, Int32(1_000))
            try socket.setLiveness(ofService: limits.silence)
        }
    }

    var endpoint: String { bound.endpoint }

    /// A PUB socket receives no messages, but ZeroMQ processes new subscriptions only when the socket is polled.
    var sockets: [ZeroMQSocket] { [bound.socket] }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        bound.socket.catchUp()
        return false
    }

    func send(_ name: String, _ payload: Data) {
        pending.subtract(1, ordering: .relaxed)
        guard !isClosed else { return }
        bound.socket.catchUp()
        // A slow subscriber misses events; the others get them.
        if bound.socket.send(Array(name.utf8), more: true) == .sent { _ = bound.socket.send(payload) }
    }

    var nextTick: MonotonicMilliseconds? { bound.nextTick }

    func tick(now: MonotonicMilliseconds) {
        bound.tick(now: now)
    }

    func close() {
        isClosed = true
        bound.close()
    }
}
