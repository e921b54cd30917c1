import Schemas
import Synchronization

/// The outcome of a component, for commands that wait for another command's send.
final class SharedOutcome: Sendable {
    typealias Outcome = Result<String, DeliveryError>
    private typealias Waiter = CheckedContinuation<Outcome?, Never>

    private struct State {
        var outcome: Outcome?
        var waiting: [UInt64: Waiter] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Resumes all waiters, and answers all later ones.
    func resolve(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for waiter in waiting { waiter.resume(returning: outcome) }
    }

    /// Waits for the outcome.
    ///
    /// - Returns: `nil` if it is unknown at the deadline.
    func value(by deadline: ContinuousClock.Instant) async -> Outcome? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        // Cancelled when this scope ends.
        async let _: Void = leave(id, at: deadline)
        return await withCheckedContinuation { waiter in
            let outcome: Outcome?? = state.withLock { state in
                if let outcome = state.outcome { return .some(outcome) }
                if deadline <= .now { return .some(nil) }
                state.waiting[id] = waiter
                return nil
            }
            if let outcome { waiter.resume(returning: outcome) }
        }
    }

    private func leave(_ id: UInt64, at deadline: ContinuousClock.Instant) async {
        // Cancelled: the wait has ended.
        guard (try? await Task.sleep(until: deadline)) != nil else { return }
        state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: nil)
    }
}
