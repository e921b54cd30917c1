import Logging
import MessageStorage
import Schemas
import ServiceLifecycle
import Time

/// Gives a place in the order of acceptance to the messages that a former version of the product has handed to FCM, so that phones
/// can fetch them.
struct MissingPlaces: Service {
    private let store: any MessageStore
    private let acceptances: AcceptanceClock
    private let logger: Logger
    private let outage: OutageLog

    /// The time until the second search, for what an instance of a former version has relayed beside this process.
    private static let pause = Duration.seconds(600)
    /// The time until the next search if the store has failed.
    private static let retryPause = Duration.seconds(5)
    /// How many messages are changed at a time.
    private static let maxAtATime = 8

    init(store: any MessageStore, acceptances: AcceptanceClock, logger: Logger) {
        self.store = store
        self.acceptances = acceptances
        self.logger = logger
        outage = OutageLog("messages of a former version cannot be given to phones yet", logger: logger)
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await fillPatiently()
                try await Task.sleep(for: Self.pause)
                try await fillPatiently()
            }
            try await gracefulShutdown()
        } catch is CancellationError {
            // The next process continues.
        }
    }

    /// - Throws: Only `CancellationError`.
    private func fillPatiently() async throws {
        while true {
            do {
                let count = try await fill()
                outage.worked()
                if count > 0 { logger.info("phones can fetch messages of a former version", metadata: ["count": "\(count)"]) }
                return
            } catch let error where !(error is CancellationError) {
                outage.failed(error)
            }
            try await Task.sleep(for: Self.retryPause)
        }
    }

    /// - Returns: How many messages have got a place.
    func fill() async throws -> Int {
        var missing = try await store.withoutAcceptance(endedSince: .now - ReadAccepted.reach)[...]
        let count = missing.count
        while !missing.isEmpty {
            try Task.checkCancellation()
            try await acceptances.refresh(from: store)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for key in missing.prefix(Self.maxAtATime) {
                    group.addTask { [store, acceptances] in
                        _ = try await store.update(key) { record, _ in acceptances.note(&record, at: .now) }
                    }
                }
                try await group.waitForAll()
            }
            missing = missing.dropFirst(Self.maxAtATime)
        }
        return count
    }
}
