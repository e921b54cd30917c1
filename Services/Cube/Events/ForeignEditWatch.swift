import CommandBus
import CubeStorage
import Logging
import Schemas
import ServiceLifecycle

/// Announces changes that another program has made in the database.
struct ForeignEditWatch: Service {
    let store: any CubeStore
    let announcer: RepeatedEvent<CubeChanged>
    let logger: Logger

    private static let pauseAfterFailure = Duration.seconds(1)

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(follow)
        } catch is CancellationError {
            // The watch ends with the service.
        }
    }

    @Sendable private func follow() async throws {
        while !Task.isCancelled {
            do {
                guard let version = try await store.nextForeignEdit() else { continue }
                announcer.announce(CubeChanged(version: version))
                logger.notice("another program has changed the cube", metadata: ["version": "\(version)"])
            } catch let error as CancellationError {
                throw error
            } catch {
                // The announcer logs an outage of the database.
                logger.debug("it is not known whether another program has changed the cube", metadata: ["error": "\(error)"])
                try await Task.sleep(for: Self.pauseAfterFailure)
            }
        }
    }
}
