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
    /// The topic of the canary, whose messages are kept only as long as it looks at them.
    let canary: TopicKey?
    let logger: Logger
    private let outage: OutageLog

    init(store: any MessageStore, days: LiveSetting<Int>, canary: TopicKey? = nil, logger: Logger) {
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
                while true {
                    let days = days.value
                    if days > 0 { try await removeOld(.seconds(Int64(days) * 86_400)) }
                    if let canary { try await removeOld(Self.canaryAge, of: canary) }
                    try await Task.sleep(for: Self.period)
                }
            }
        } catch is CancellationError {
            // The rest is removed after the next start.
        }
    }

    /// - Throws: Only `CancellationError`.
    private func removeOld(_ age: Milliseconds, of topic: TopicKey? = nil) async throws {
        let moment = UnixMilliseconds.now - age
        var removed = 0
        do {
            while case let count = try await store.removeArchived(of: topic, before: moment, limit: Self.batch), count > 0 {
                removed += count
                try await Task.sleep(for: Self.pause)
            }
            outage.worked()
        } catch let error where !(error is CancellationError) {
            outage.failed(error)
        }
        // Those of the canary are one each minute.
        if removed > 0 {
            logger.log(level: topic == nil ? .info : .debug, "old messages removed", metadata: ["count": "\(removed)"])
        }
    }
}
