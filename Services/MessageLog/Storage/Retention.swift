import Logging
import MessageStorage
import Schemas
import ServiceKit
import ServiceLifecycle
import Time

/// Removes archived messages and pushes after the operator's retention time, in small batches, so that other
/// operations hardly wait.
struct Retention: Service {
    let store: any MessageStore
    /// For how many days a message is kept; 0 is for ever.
    let days: LiveSetting<Int>
    /// Where the canary's messages come from, which are kept only as long as it looks at them.
    let canary: MessageOrigin?
    let logger: Logger
    private let outage: OutageLog

    init(store: any MessageStore, days: LiveSetting<Int>, canary: MessageOrigin? = nil, logger: Logger) {
        self.store = store
        self.days = days
        self.canary = canary
        self.logger = logger
        outage = OutageLog("old messages cannot be removed", logger: logger)
    }

    /// The interval of searches for old messages.
    private static let period = Duration.seconds(60)
    /// The size of a batch, and the pause after it.
    private static let batch = 200
    private static let pause = Duration.milliseconds(50)
    /// Longer than the canary waits for a message.
    private static let canaryAge = Milliseconds.seconds(3_600)

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                var isCanaryKnown = false
                while true {
                    let days = days.value
                    if days > 0, case let count = try await removeOld(.seconds(Int64(days) * 86_400)), count > 0 {
                        logger.info("old messages removed", metadata: ["count": "\(count)"])
                    }
                    if let canary, case let count = try await removeOld(Self.canaryAge, of: canary), count > 0 {
                        // They are one each minute. The first line tells the operator that messages of this topic do not stay.
                        logger.log(
                            level: isCanaryKnown ? .debug : .notice, "old messages of the canary removed",
                            metadata: ["count": "\(count)", "topic": "\(canary.topic)", "sender": "\(canary.sender)"])
                        isCanaryKnown = true
                    }
                    try await Task.sleep(for: Self.period)
                }
            }
        } catch is CancellationError {
            // The rest is removed after the next start.
        }
    }

    /// - Returns: How many were removed.
    /// - Throws: Only `CancellationError`.
    private func removeOld(_ age: Milliseconds, of origin: MessageOrigin? = nil) async throws -> Int {
        let moment = UnixMilliseconds.now - age
        var removed = 0
        do {
            while case let count = try await store.removeArchived(of: origin, before: moment, limit: Self.batch), count > 0 {
                removed += count
                try await Task.sleep(for: Self.pause)
            }
            outage.worked()
        } catch let error where !(error is CancellationError) {
            outage.failed(error)
        }
        return removed
    }
}
