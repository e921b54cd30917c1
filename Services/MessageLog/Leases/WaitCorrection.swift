import DedicatedThread
import Logging
import MessageStorage
import Schemas
import ServiceLifecycle

/// Shortens leases and waits after the system clock was set back, so that none lasts longer than intended.
struct WaitCorrection: Service {
    private static let period = Duration.seconds(1)

    private let store: any MessageStore
    private let schedule: RetrySchedule
    private let logger: Logger
    private let outage: OutageLog

    init(store: any MessageStore, schedule: RetrySchedule, logger: Logger) {
        self.store = store
        self.schedule = schedule
        self.logger = logger
        outage = OutageLog("waits cannot be checked after the clock was set back", logger: logger)
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                var clock = ClockStepDetector()
                var isDue = false
                while true {
                    if clock.isSetBack(wall: .now, monotonic: .now) { isDue = true }
                    if isDue { isDue = try await !correct() }
                    try await Task.sleep(untilNext: Self.period)
                }
            }
        } catch is CancellationError {
            // The next process checks at its start.
        }
    }

    /// - Returns: Whether all waits are correct now.
    /// - Throws: Only `CancellationError`.
    private func correct() async throws -> Bool {
        do {
            let now = UnixMilliseconds.now
            let schedule = schedule
            let late = try await store.waiting(after: now) { item in
                var capped = item
                capped.change { $0.capWait(at: now, notBefore: item.notBefore(at: now), schedule: schedule) }
                return capped != item
            }
            for key in late {
                _ = try await store.update(key) { record, item in
                    let now = UnixMilliseconds.now
                    record.capWait(at: now, notBefore: item.notBefore(at: now), schedule: schedule)
                }
            }
            if !late.isEmpty {
                logger.notice(
                    "the clock was set back: messages that waited by the old time are due sooner",
                    metadata: ["count": "\(late.count)"])
            }
            outage.worked()
            return true
        } catch let error where !(error is CancellationError) {
            outage.failed(error)
            return false
        }
    }
}
