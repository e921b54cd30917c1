import CoreMetrics
import Instruments
import Logging
import Archive
import Schemas
import Synchronization
import Base

/// The gauges of the outbox: how many messages wait, and for how long.
final class OutboxMetrics: Sendable {
    private let store: any MessageStore
    private let logger: Logger
    /// When the next count may start; `nil` while one runs. Counting a large archive is slow, so it takes at most a twentieth of the
    /// time.
    private let next = Mutex<ContinuousClock.Instant?>(.now)

    init(store: any MessageStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Starts a count if one is due. It does not wait for it: the values of the last count stand until then.
    func collect() {
        let start = ContinuousClock.now
        let isDue = next.withLock { next in
            guard let due = next, start >= due else { return false }
            next = nil
            return true
        }
        guard isDue else { return }
        Task {
            await count()
            let end = ContinuousClock.now
            next.withLock { $0 = end + (end - start) * 20 }
        }
    }

    private func count() async {
        do {
            let now = UnixMilliseconds.now
            let statistics = try await store.statistics(CountMessages(), now: now) {}
            for state in [RelayState.held, .pending, .retrying] {
                Instrument.outboxMessages.gauge(["state": state.rawValue]).set(statistics.states[state])
            }
            let due = statistics.oldestWaiting.map { $0.notBefore(at: now) ?? $0.timestamp }
            Instrument.outboxOldestAge.gauge().set(due.map { max(0, Double((now - $0).rawValue) / 1_000) } ?? 0)
        } catch {
            // The last values stay, and the readiness says what is wrong.
            logger.debug("the messages cannot be counted", metadata: ["error": "\(error)"])
        }
    }
}
