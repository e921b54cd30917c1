import DedicatedThread
import JSON
package import Logging
import Schemas
import ServiceLifecycle

/// An event with the latest state of something, such as its version. It is published after each change, and once a second. So a
/// subscriber is out of date for at most a second, even if it missed an event, and for at most three if another instance made the change.
package struct RepeatedEvent<Event: Encodable & Sendable>: Service {
    private let name: String
    private let publisher: EventPublisher
    private let logger: Logger
    private let read: @Sendable () async throws -> Event

    /// The interval of repetitions.
    private static var period: Duration { .seconds(1) }

    /// - Parameters:
    ///   - name: The event's name, such as `cube.changed`.
    ///   - read: The event with the state of this moment.
    package init(
        _ name: String, publisher: EventPublisher, logger: Logger, read: @escaping @Sendable () async throws -> Event
    ) {
        self.name = name
        self.publisher = publisher
        self.logger = logger
        self.read = read
    }

    /// Publishes a change at once.
    package func announce(_ event: Event) {
        do {
            publisher.publish(name, try JSONCoder.encode(event))
        } catch {
            logger.error("an event could not be written", metadata: ["event": "\(name)", "error": "\(error)"])
        }
    }

    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown(repeatEvent)
        } catch is CancellationError {
            // The announcements end with the service.
        }
    }

    @Sendable private func repeatEvent() async throws {
        var isFailing = false
        while true {
            do {
                announce(try await read())
                isFailing = false
            } catch {
                // Logged once: subscribers notice that the announcements have stopped.
                if !isFailing {
                    logger.warning("an event's state cannot be read", metadata: ["event": "\(name)", "error": "\(error)"])
                }
                isFailing = true
            }
            try await Task.sleep(untilNext: Self.period)
        }
    }
}
