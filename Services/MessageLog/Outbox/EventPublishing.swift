import CommandBus
import ServiceLifecycle

/// Gives up the socket of the events when the service begins to stop: the next process may start while this one is still finishing.
struct EventPublishing: Service {
    let publisher: EventPublisher

    func run() async throws {
        // Thrown when the service ends by itself, and then the bus closes the socket.
        try? await gracefulShutdown()
        await publisher.close()
    }
}
