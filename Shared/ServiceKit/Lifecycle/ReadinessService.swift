import Logging
import ServiceLifecycle
import UnixSignals

/// Notifies the service manager when the service is ready, when it reads its settings again, and when it begins to stop.
struct ReadinessService: Service {
    let whenReady: @Sendable () async throws -> Void
    let readiness: MetricsServer.Readiness
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
        ServiceManager.notify("READY=1\nSTATUS=\(reload.status.text)")
        logger.info("ready")
        await cancelWhenGracefulShutdown {
            for await _ in hangUps {
                if terminal.isGone { break }
                ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)")
                let report = await reload.run()
                ServiceManager.notify("READY=1\nSTATUS=\(reload.status.text)\n\(report.notification)")
            }
        }
        readiness.isReady = false
        ServiceManager.notify("STOPPING=1\nSTATUS=finishing what was accepted")
        logger.info("stopping")
    }
}
