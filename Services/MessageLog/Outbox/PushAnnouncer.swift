import CommandBus
import JSON
import Logging
import MessageStorage
import Schemas

/// Publishes an event for each push that has ended (``PushEnded``).
struct PushAnnouncer: Sendable {
    private let publish: @Sendable (PushEnded) -> Void

    init(publisher: EventPublisher, logger: Logger) {
        publish = { event in
            do {
                publisher.publish(PushEnded.name, try JSONCoder.encode(event))
            } catch {
                logger.error("an event could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    /// For tests: passes the events to a function instead of the bus.
    init(_ publish: @escaping @Sendable (PushEnded) -> Void) {
        self.publish = publish
    }

    /// Announces a push that has ended. Ended messages are not announced: their followers read the archive.
    func announceEnd(of item: OutboxItem) {
        if let push = item.push, push.relay.nextAttempt == nil { publish(PushEnded(push)) }
    }
}
