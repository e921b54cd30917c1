import FoundationEssentials
import Schemas
import Synchronization

/// How a request ended.
enum RequestOutcome: Sendable {
    /// A service answered, whatever its answer.
    case replied(ReplyStatus, Data)
    case failed(CommandFailure)
}

/// One request on its way.
///
/// Made and filled by the task that waits for the answer; from the moment that it is handed over it belongs to the bus
/// thread, except for the mark that it is cancelled.
final class PendingRequest: @unchecked Sendable {
    let id: UInt64
    let header: RequestHeader
    let payload: Data
    let deadline: MonotonicMilliseconds
    /// Whether it was made on the bus thread, where the task that waits is then likely to go on.
    let isLocal: Bool
    /// Set by whoever cancels, because the cancellation may reach the bus thread before the request does.
    let isCancelled = Atomic<Bool>(false)
    /// Not a checked one, which costs as much as all else here: the pool's state machine lets a request end once, and the end of
    /// this object, which everybody who may end the request holds, is that of the request.
    private var continuation: UnsafeContinuation<RequestOutcome, Never>?

    init(id: UInt64, header: RequestHeader, payload: Data, deadline: MonotonicMilliseconds, isLocal: Bool) {
        self.id = id
        self.header = header
        self.payload = payload
        self.deadline = deadline
        self.isLocal = isLocal
    }

    deinit {
        assert(continuation == nil, "a request must end")
    }

    func wait(with continuation: UnsafeContinuation<RequestOutcome, Never>) {
        self.continuation = continuation
    }

    /// Wakes the task that waits.
    func complete(_ outcome: RequestOutcome) {
        let waiting = continuation.take()
        waiting?.resume(returning: outcome)
    }
}
