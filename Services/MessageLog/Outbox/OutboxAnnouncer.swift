import CommandBus
import CoreMetrics
import Instruments
import JSON
import Logging
import MessageStorage
import Schemas

/// Tells followers what happens to messages and pushes: an event for each push that has ended (``PushEnded``), and the changes of
/// messages' states (``MessageChanges``).
struct OutboxAnnouncer: Sendable {
    private let changes: MessageChanges
    private let publish: @Sendable (PushEnded) -> Void

    init(publisher: EventPublisher, changes: MessageChanges, logger: Logger) {
        self.init(changes: changes) { event in
            do {
                publisher.publish(PushEnded.name, try JSONCoder.encode(event))
            } catch {
                logger.error("an event could not be written", metadata: ["error": "\(error)"])
            }
        }
    }

    /// - Parameter publish: Publishes the event of a push.
    init(
        changes: MessageChanges = MessageChanges(publish: { _ in }), _ publish: @escaping @Sendable (PushEnded) -> Void
    ) {
        self.changes = changes
        self.publish = publish
    }

    /// Announces an item after a change.
    ///
    /// - Parameter before: The state before; `nil` if it was certainly another one.
    func announce(_ changed: ChangedItem, after before: RelayState? = nil) {
        if case .message(let message) = changed.item, message.relay.state == before { return }
        announce(changed.item, at: changed.changed)
    }

    /// Announces a new item, or one with another state since a time.
    func announce(_ item: OutboxItem, at changed: UnixMilliseconds) {
        count(item)
        switch item {
        case .message(let message): changes.add(message, at: changed)
        case .push(let push): if push.relay.nextAttempt == nil { publish(PushEnded(push)) }
        }
    }

    private func count(_ item: OutboxItem) {
        switch item {
        case .message(let message):
            Instrument.outboxChanges.counter(["kind": "message", "state": message.relay.state.rawValue]).increment()
        case .push(let push):
            let state = push.relay.nextAttempt == nil ? "ended" : "pending"
            Instrument.outboxChanges.counter(["kind": "push", "state": state]).increment()
        }
    }
}
