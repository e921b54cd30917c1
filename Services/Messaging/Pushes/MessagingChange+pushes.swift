import Base
import PersonPushes
import Schemas
import Store

extension MessagingChange {
    /// Queues the push about a new message to its recipient, in the transaction of the message. It names nobody and has no text:
    /// the app fetches that. After the commit, `PersonPushes` hands it over when it is woken.
    mutating func queuePush(about message: DirectMessageDocument) throws {
        let text = PersonPush(id: "\(message.id)", link: "#people", texts: Self.texts, tag: Self.tag, urgency: .high)
        let push = try LogPush(
            idempotencyKey: "\(message.id)", accounts: [message.toName], kind: .directMessage, fairnessKey: Self.fairnessKey,
            message: text, expires: now + Self.lifetime)
        try transaction.insert(QueuedPush(push, for: message.toName, at: now), into: MessagingStore.queuedPushes)
        queuedPush()
    }

    /// A device shows one pop-up for all messages: a later push replaces the one before.
    private static let tag = "direct_message"
    /// Pushes about messages wait for each other in the outbox, and not for those of other senders.
    private static let fairnessKey = "messaging"
    /// After a day the app has fetched the message some other way, or its person does not use the device.
    private static let lifetime = Milliseconds.seconds(86_400)
    private static let texts = ["en": "You have a new message", "ar": "لديك رسالة جديدة"]
}
