import Logging
import ServiceLifecycle

/// Tells the service manager when the service can do its work, and when it begins to stop.
struct ReadinessService: Service {
    let whenReady: @Sendable () async throws -> Void
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await whenReady()
                // What waits for a stream of events returns as usual when it is cancelled.
                try Task.checkCancellation()
            }
        } catch is CancellationError {
            // Told to stop before it was ready.
            return
        }
        ServiceManager.notify("READY=1")
        logger.info("ready")
        try await gracefulShutdown()
        ServiceManager.notify("STOPPING=1")
        logger.info("stopping")
    }
}
