import Logging
import ServiceLifecycle

/// Notifies the service manager when the service is ready, and when it begins to stop.
struct ReadinessService: Service {
    let whenReady: @Sendable () async throws -> Void
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
        ServiceManager.notify("READY=1")
        logger.info("ready")
        try await gracefulShutdown()
        ServiceManager.notify("STOPPING=1")
        logger.info("stopping")
    }
}
