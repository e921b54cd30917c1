import CZeroMQ
import FoundationEssentials
import Synchronization

/// A publisher's PUB socket.
///
/// Owned by the bus thread once it is attached; only the count of events on their way to it is shared.
final class PublisherSocket: BusParticipant, @unchecked Sendable {
    private let bound: BoundSocket
    /// Events in the outbox that are not sent yet.
    let pending = Atomic<Int>(0)

    init(context: ZeroMQContext, endpoint: String, limits: EventLimits) throws(BusError) {
        bound = try BoundSocket(ZMQ_PUB, at: endpoint, context: context) { socket throws(BusError) in
            try socket.set(ZMQ_SNDHWM, Int32(clamping: max(limits.maxPending, 1)))
            try socket.set(ZMQ_BACKLOG, Int32(4_096))
            try socket.set(ZMQ_LINGER, Int32(1_000))
            try socket.setLiveness(silence: limits.silence)
        }
    }

    var endpoint: String { bound.endpoint }

    /// A PUB socket receives nothing, but ZeroMQ takes in new subscriptions only when it is looked at.
    var sockets: [ZeroMQSocket] { [bound.socket] }

    func receive(from index: Int, now: MonotonicMilliseconds) -> Bool {
        bound.socket.catchUp()
        return false
    }

    func send(_ name: String, _ payload: Data) {
        pending.subtract(1, ordering: .relaxed)
        bound.socket.catchUp()
        // A subscriber that does not keep up loses events; the others get them.
        if bound.socket.send(Array(name.utf8), more: true) == .sent { _ = bound.socket.send(payload) }
    }

    func close() {
        bound.close()
    }
}
