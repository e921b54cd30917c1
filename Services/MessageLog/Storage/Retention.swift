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
    let logger: Logger
    private let outage: OutageLog

    init(store: any MessageStore, days: LiveSetting<Int>, logger: Logger) {
        self.store = store
        self.days = days
        self.logger = logger
        outage = OutageLog("old messages cannot be removed", logger: logger)
    }

    /// The interval of searches for old messages.
    private static let period = Duration.seconds(60)
    /// The size of a batch, and the pause after it.
    private static let batch = 200
    private static let pause = Duration.milliseconds(50)

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                while true {
                    let days = days.value
                    if days > 0 { try await removeOld(.seconds(Int64(days) * 86_400)) }
                    try await Task.sleep(for: Self.period)
                }
            }
        } catch is CancellationError {
            // The rest is removed after the next start.
        }
    }

    /// - Throws: Only `CancellationError`.
    private func removeOld(_ age: Milliseconds) async throws {
        let moment = UnixMilliseconds.now - age
        var removed = 0
        do {
            while case let count = try await store.removeArchived(before: moment, limit: Self.batch), count > 0 {
                removed += count
                try await Task.sleep(for: Self.pause)
            }
            outage.worked()
        } catch let error where !(error is CancellationError) {
            outage.failed(error)
        }
        if removed > 0 { logger.info("old messages removed", metadata: ["count": "\(removed)"]) }
    }
}
