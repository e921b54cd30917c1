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
    /// By continuations that are not checked ones, which cost as much as all else here: the pool's state machine lets a request
    /// end once, and the end of this object, which everybody who may end the request holds, is that of the request.
    private var waiting = Waiting.nobody

    private enum Waiting {
        case nobody
        /// Until it ends, or ``PendingRequest/tellThatItIsSlow()``.
        case aMoment(UnsafeContinuation<RequestOutcome?, Never>)
        case untilTheEnd(UnsafeContinuation<RequestOutcome, Never>)
        /// It ended while nobody waited, as may happen between the two times that a task of the bus thread waits.
        case ended(RequestOutcome)
    }

    init(id: UInt64, header: RequestHeader, payload: Data, deadline: MonotonicMilliseconds, isLocal: Bool) {
        self.id = id
        self.header = header
        self.payload = payload
        self.deadline = deadline
        self.isLocal = isLocal
    }

    deinit {
        assert(isOver, "a request must end")
    }

    func waitAMoment(with continuation: UnsafeContinuation<RequestOutcome?, Never>) {
        waiting = .aMoment(continuation)
    }

    func wait(with continuation: UnsafeContinuation<RequestOutcome, Never>) {
        if case .ended(let outcome) = waiting {
            continuation.resume(returning: outcome)
        } else {
            waiting = .untilTheEnd(continuation)
        }
    }

    /// Whether its task wants to be told when it takes longer than a moment.
    var waitsAMoment: Bool {
        if case .aMoment = waiting { true } else { false }
    }

    /// Wakes the task that waits.
    func complete(_ outcome: RequestOutcome) {
        switch waiting {
        case .nobody:
            waiting = .ended(outcome)
            return
        case .aMoment(let continuation): continuation.resume(returning: outcome)
        case .untilTheEnd(let continuation): continuation.resume(returning: outcome)
        case .ended: assertionFailure("a request ends once")
        }
        waiting = .nobody
    }

    /// Wakes the task that waits for a moment, with nothing; it will wait again.
    func tellThatItIsSlow() {
        guard case .aMoment(let continuation) = waiting else { return }
        waiting = .nobody
        continuation.resume(returning: nil)
    }

    private var isOver: Bool {
        switch waiting {
        case .nobody, .ended: true
        case .aMoment, .untilTheEnd: false
        }
    }
}
