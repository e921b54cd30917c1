import Logging
import ServiceLifecycle
import UnixSignals

/// Notifies the service manager when the service is ready, when it reads its settings again, and when it begins to stop.
struct ReadinessService: Service {
    let whenReady: @Sendable () async throws -> Void
    let readiness: MetricsServer.Readiness
    let status: ManagerStatus
    let reload: SettingsReload
    /// SIGHUP.
    let hangUps: UnixSignalsSequence
    let terminal: TerminalWatch
    let logger: Logger

    /// Returns when the service stops, or when its terminal is gone.
    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await whenReady()
                // A wait for a stream of events returns normally when it is cancelled.
                try Task.checkCancellation()
            }
        } catch is CancellationError {
            // The service was stopped before it was ready.
            return
        }
        readiness.isReady = true
        status.ready(reload.status)
        logger.info("ready")
        await cancelWhenGracefulShutdown {
            for await _ in hangUps {
                if terminal.isGone { break }
                status.reloading()
                let report = await reload.run()
                status.ready(reload.status, report)
            }
        }
        readiness.isReady = false
        status.stopping()
        logger.info("stopping")
    }
}
