import CommandBus
import CubeStorage
import JSON
import Logging
import Schemas
import ServiceLifecycle

/// Announces the latest version of the cube to all holders of a copy: after each change, and once a second. So a copy is stale
/// for at most a second, even if an event was missed or another instance made the change.
struct CubeAnnouncer: Service {
    let store: any CubeStore
    let publisher: EventPublisher
    let logger: Logger

    /// The interval of repetitions.
    static let period = Duration.seconds(1)

    func announce(_ version: CubeVersion) {
        do {
            publisher.publish(CubeChanged.name, try JSONCoder.encode(CubeChanged(version: version)))
        } catch {
            logger.error("an event could not be written", metadata: ["error": "\(error)"])
        }
    }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(repeatVersion)
        } catch is CancellationError {
            // The announcements end with the service.
        }
    }

    @Sendable private func repeatVersion() async throws {
        var isFailing = false
        while true {
            do {
                announce(try await store.version())
                isFailing = false
            } catch {
                // Logged once: subscribers notice that the announcements have stopped.
                if !isFailing { logger.warning("the cube's version cannot be read", metadata: ["error": "\(error)"]) }
                isFailing = true
            }
            try await Task.sleep(for: Self.period)
        }
    }
}
