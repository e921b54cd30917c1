import CommandBus
import ServiceLifecycle

/// Closes the socket of the events when the service begins to stop, since the next process may start while this one is finishing.
struct EventPublishing: Service {
    let publisher: EventPublisher

    func run() async throws {
        // Thrown when the service ends by itself, and then the bus closes the socket.
        try? await gracefulShutdown()
        await publisher.close()
    }
}
