import Logging
import ServiceLifecycle

/// Notifies the service manager when the service is ready, and when it begins to stop.
struct ReadinessService: Service {
    let whenReady: @Sendable () async throws -> Void
    let readiness: MetricsServer.Readiness
    let logger: Logger

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
        ServiceManager.notify("READY=1\nSTATUS=ready")
        logger.info("ready")
        try await gracefulShutdown()
        readiness.isReady = false
        ServiceManager.notify("STOPPING=1\nSTATUS=finishing what was accepted")
        logger.info("stopping")
    }
}
