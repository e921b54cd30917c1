import Logging
import MessageStorage
import Schemas
import ServiceLifecycle

/// Releases the leases of this instance's former processes. A predecessor that is still running is finishing, so it keeps its
/// messages until it has ended.
struct LeaseRecovery: Service {
    /// The interval of checks for the end of a predecessor.
    private static let period = Duration.milliseconds(200)
    private static let pauseAfterFailure = Duration.seconds(1)

    private let store: any MessageStore
    private let process: ProcessIdentity
    private let outage: OutageLog
    private let logger: Logger

    init(store: any MessageStore, process: ProcessIdentity, logger: Logger) {
        self.store = store
        self.process = process
        self.logger = logger
        outage = OutageLog("the leases of the last run cannot be released yet", logger: logger)
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await releaseAll() }
            try await gracefulShutdown()
        } catch is CancellationError {
            // The next process releases the rest.
        }
    }

    /// - Throws: Only `CancellationError`.
    private func releaseAll() async throws {
        var waitsFor = 0
        while true {
            do {
                let running = try await process.forEachEndedProcess { owner in
                    try await store.releaseLeases(of: owner, now: .now)
                }
                outage.worked()
                if running > 0, waitsFor == 0 {
                    logger.notice(
                        "a process of this instance is still finishing; its messages are left to it",
                        metadata: ["processes": "\(running)"])
                } else if running == 0, waitsFor > 0 {
                    logger.notice("the process that was finishing has ended")
                }
                guard running > 0 else { return }
                waitsFor = running
                try await Task.sleep(for: Self.period)
            } catch let error where !(error is CancellationError) {
                outage.failed(error)
                try await Task.sleep(for: Self.pauseAfterFailure)
            }
        }
    }
}
