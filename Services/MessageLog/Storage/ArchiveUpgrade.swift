import Logging
import MessageStorage
import Schemas
import ServiceLifecycle
import Time

/// Brings messages of an earlier version of the product up to date, beside the service's work.
struct ArchiveUpgrade: Service {
    private let done: Logger.Message
    private let logger: Logger
    private let outage: OutageLog
    private let work: @Sendable () async throws -> Int

    /// The time until the second run, for what an instance of an earlier version has written beside this process.
    private static let pause = Duration.seconds(600)
    /// The time until the next run if the store has failed.
    private static let retryPause = Duration.seconds(5)

    /// - Parameters:
    ///   - done: Logged after a run that has changed messages.
    ///   - trouble: Logged if the store fails.
    ///   - work: Returns how many messages it has changed. If it is cancelled, the next process continues.
    init(_ done: Logger.Message, trouble: Logger.Message, logger: Logger, work: @escaping @Sendable () async throws -> Int) {
        self.done = done
        self.logger = logger
        self.work = work
        outage = OutageLog(trouble, logger: logger)
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await workPatiently()
                try await Task.sleep(for: Self.pause)
                try await workPatiently()
            }
            try await gracefulShutdown()
        } catch is CancellationError {
            // The next process continues.
        }
    }

    /// - Throws: Only `CancellationError`.
    private func workPatiently() async throws {
        while true {
            do {
                let count = try await work()
                outage.worked()
                if count > 0 { logger.info(done, metadata: ["count": "\(count)"]) }
                return
            } catch let error where !(error is CancellationError) {
                outage.failed(error)
            }
            try await Task.sleep(for: Self.retryPause)
        }
    }
}

extension MessageStore {
    /// Adds all messages to the search index that an earlier version has indexed by other rules. Other operations hardly wait.
    func addAllToSearch() async throws -> Int {
        var count = 0
        while case let added = try await addToSearch(limit: 200), added > 0 {
            count += added
            try await Task.sleep(for: .milliseconds(20))
        }
        return count
    }
}
