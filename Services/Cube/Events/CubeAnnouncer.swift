import CommandBus
import CubeStorage
import JSON
import Logging
import Schemas
import ServiceLifecycle

/// Tells everybody who keeps a copy of the cube which version is the latest: after each change, and once a second, so that
/// a copy is never stale for longer than that, also when an event was missed or another instance made the change.
struct CubeAnnouncer: Service {
    let store: any CubeStore
    let publisher: EventPublisher
    let logger: Logger

    /// How often the latest version is repeated.
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
        var isAway = false
        while true {
            do {
                announce(try await store.version())
                isAway = false
            } catch {
                // Said once: readers notice that the announcements have stopped.
                if !isAway { logger.warning("the cube's version cannot be read", metadata: ["error": "\(error)"]) }
                isAway = true
            }
            try await Task.sleep(for: Self.period)
        }
    }
}
