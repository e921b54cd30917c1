package import Schemas
import Synchronization
import Base

/// Whether a database takes writes, by the outcome of the last one. If none has ended for ten seconds and someone asks, a small write
/// is tried; at most one in that time, however many ask.
package final class WriteHealth: Sendable {
    private struct State {
        /// The outcome of the last write.
        var outcome = PartHealth.ok
        /// When it ended; `nil` before the first one.
        var ended: ContinuousClock.Instant?
        /// The last write that was tried.
        var trial: (began: ContinuousClock.Instant, task: Task<Void, Never>)?
        var isTrying = false
    }

    /// The time for which an outcome counts, and between two trials.
    private static let period = Duration.seconds(10)
    /// How long a caller waits for a trial. `bus.health` answers within about a second.
    private static let maxWait = Duration.seconds(1)

    private let state = Mutex(State())

    package init() {}

    /// A write has ended.
    ///
    /// - Parameter failure: Why it failed, if other writes would fail as well; `nil` if it is stored durably. Do not report what says
    ///   nothing about other writes, such as a conflict.
    package func ended(_ failure: CommandFailure?) {
        let outcome = failure.map { PartHealth($0.status, $0.message) } ?? .ok
        state.withLock { ($0.outcome, $0.ended) = (outcome, .now) }
    }

    /// Since when a tried write runs; `nil` if none does, or if it only waits for its turn behind writes that end.
    package var tryingSince: ContinuousClock.Instant? {
        state.withLock { state in
            guard state.isTrying, let began = state.trial?.began else { return nil }
            return state.ended.map { $0 < began } ?? true ? began : nil
        }
    }

    /// The outcome of the last write. Waits up to a second for a trial.
    ///
    /// - Parameter tryWrite: Writes something small, and reports its outcome with ``ended(_:)``.
    package func current(
        at now: ContinuousClock.Instant = .now, _ tryWrite: @escaping @Sendable () async -> Void
    ) async -> PartHealth {
        let trial = state.withLock { state -> Task<Void, Never>? in
            if let ended = state.ended, now - ended < Self.period { return nil }
            guard !state.isTrying else { return state.trial?.task }
            if let last = state.trial, now - last.began < Self.period { return nil }
            state.isTrying = true
            let task = Task {
                await tryWrite()
                self.state.withLock { $0.isTrying = false }
            }
            state.trial = (now, task)
            return task
        }
        if let trial { _ = await trial.finishes(by: .now + Self.maxWait) }
        return state.withLock(\.outcome)
    }
}
