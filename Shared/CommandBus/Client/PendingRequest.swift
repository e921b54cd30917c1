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
/// thread, except for the mark that it is cancelled, and for who waits, which has a lock.
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
    private let waiting = Mutex(Waiting.nobody)
    /// How it ended, where nobody waited. Apart, because what the lock guards is copied; set and read with ``Waiting/ended``.
    private var outcome: RequestOutcome?

    private enum Waiting {
        case nobody
        /// Until it ends, or ``PendingRequest/tellThatItIsSlow()``.
        case aMoment(UnsafeContinuation<RequestOutcome?, Never>)
        case untilTheEnd(UnsafeContinuation<RequestOutcome, Never>)
        /// It ended while nobody waited, as may happen between the two times that a task of the bus thread waits.
        case ended
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
        waiting.withLock { $0 = .aMoment(continuation) }
    }

    func wait(with continuation: UnsafeContinuation<RequestOutcome, Never>) {
        let hasEnded = waiting.withLock { waiting in
            if case .ended = waiting { return true }
            waiting = .untilTheEnd(continuation)
            return false
        }
        if hasEnded, let outcome { continuation.resume(returning: outcome) }
    }

    /// Wakes the task that waits.
    func complete(_ outcome: RequestOutcome) {
        let waiter = waiting.withLock { waiting in
            let waiter = waiting
            if case .nobody = waiting {
                self.outcome = outcome
                waiting = .ended
            } else {
                waiting = .nobody
            }
            return waiter
        }
        switch waiter {
        case .nobody: break
        case .aMoment(let continuation): continuation.resume(returning: outcome)
        case .untilTheEnd(let continuation): continuation.resume(returning: outcome)
        case .ended: assertionFailure("a request ends once")
        }
    }

    /// Wakes the task that waits for a moment, with nothing; it will wait again.
    func tellThatItIsSlow() {
        let waiter = waiting.withLock { waiting -> UnsafeContinuation<RequestOutcome?, Never>? in
            guard case .aMoment(let continuation) = waiting else { return nil }
            waiting = .nobody
            return continuation
        }
        waiter?.resume(returning: nil)
    }

    private var isOver: Bool {
        waiting.withLock {
            switch $0 {
            case .nobody, .ended: true
            case .aMoment, .untilTheEnd: false
            }
        }
    }
}
