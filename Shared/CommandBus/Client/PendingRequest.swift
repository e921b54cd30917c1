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
/// Made and filled by the task that waits for the answer; from the moment that it is handed to the outbox it belongs to
/// the bus thread, except for the mark that it is cancelled.
final class PendingRequest: @unchecked Sendable {
    let id: UInt64
    let header: [UInt8]
    let payload: Data
    let deadline: MonotonicMilliseconds
    /// Set by whoever cancels, because the cancellation may reach the bus thread before the request does.
    let isCancelled = Atomic<Bool>(false)
    private var continuation: CheckedContinuation<RequestOutcome, Never>?

    init(id: UInt64, header: [UInt8], payload: Data, deadline: MonotonicMilliseconds) {
        self.id = id
        self.header = header
        self.payload = payload
        self.deadline = deadline
    }

    func wait(with continuation: CheckedContinuation<RequestOutcome, Never>) {
        self.continuation = continuation
    }

    /// Wakes the task that waits. The pool's state machine lets a request end once.
    func complete(_ outcome: RequestOutcome) {
        continuation?.resume(returning: outcome)
        continuation = nil
    }
}
