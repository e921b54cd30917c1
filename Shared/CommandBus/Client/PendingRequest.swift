import FoundationEssentials
import Schemas
import Synchronization

/// How a request ended.
enum RequestOutcome: Sendable {
    /// A service answered, with success or failure.
    case replied(ReplyStatus, Data)
    case failed(CommandFailure)
}

/// One pending request.
///
/// The waiting task creates it. Once it is submitted, the bus thread owns it, except for the atomic ``isCancelled`` and the
/// continuation, which has a lock.
final class PendingRequest: @unchecked Sendable {
    let id: UInt64
    let header: RequestHeader
    let payload: Data
    let deadline: MonotonicMilliseconds
    /// Whether it was created on the bus thread. Then its task most likely continues there.
    let isLocal: Bool
    /// Set by the cancellation, which may reach the bus thread before the request does.
    let isCancelled = Atomic<Bool>(false)
    /// The continuations are unsafe ones, since checked ones would double the cost of a request. The pool's state machine ends
    /// each request once, and `deinit` asserts that it has ended.
    private let waiting = Mutex(Waiting.noTask)
    /// The outcome of a request that ended while no task waited. It is outside the lock, because the guarded value is copied. It
    /// is set and read only together with ``Waiting/ended``.
    private var outcome: RequestOutcome?

    private enum Waiting {
        case noTask
        /// A task waits until the end, or until ``PendingRequest/notifySlow()``.
        case briefly(UnsafeContinuation<RequestOutcome?, Never>)
        case untilTheEnd(UnsafeContinuation<RequestOutcome, Never>)
        /// It ended while no task waited. This can happen between the two waits of a task on the bus thread.
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

    func waitBriefly(with continuation: UnsafeContinuation<RequestOutcome?, Never>) {
        waiting.withLock { $0 = .briefly(continuation) }
    }

    func wait(with continuation: UnsafeContinuation<RequestOutcome, Never>) {
        let hasEnded = waiting.withLock { waiting in
            if case .ended = waiting { return true }
            waiting = .untilTheEnd(continuation)
            return false
        }
        if hasEnded, let outcome { continuation.resume(returning: outcome) }
    }

    /// Resumes the waiting task.
    func complete(_ outcome: RequestOutcome) {
        let waiter = waiting.withLock { waiting in
            let waiter = waiting
            if case .noTask = waiting {
                self.outcome = outcome
                waiting = .ended
            } else {
                waiting = .noTask
            }
            return waiter
        }
        switch waiter {
        case .noTask: break
        case .briefly(let continuation): continuation.resume(returning: outcome)
        case .untilTheEnd(let continuation): continuation.resume(returning: outcome)
        case .ended: assertionFailure("a request ends once")
        }
    }

    /// Resumes the task of the first, short wait without an outcome. It waits again.
    func notifySlow() {
        let waiter = waiting.withLock { waiting -> UnsafeContinuation<RequestOutcome?, Never>? in
            guard case .briefly(let continuation) = waiting else { return nil }
            waiting = .noTask
            return continuation
        }
        waiter?.resume(returning: nil)
    }

    private var isOver: Bool {
        waiting.withLock {
            switch $0 {
            case .noTask, .ended: true
            case .briefly, .untilTheEnd: false
            }
        }
    }
}
