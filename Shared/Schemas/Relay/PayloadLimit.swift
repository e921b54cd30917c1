/// FCM's limit on what a message carries, in bytes.
///
/// FCM's error reference says 2,048 for topics and 4,096 otherwise, and a message that is too large is refused for good: so
/// it is refused at the door, where its author can still shorten it.
package struct PayloadLimit: Hashable, Sendable {
    /// For messages to topics and conditions.
    package let bytes: Int

    package init(bytes: Int) {
        self.bytes = bytes
    }

    /// The documented limit for topics.
    package static let topic = PayloadLimit(bytes: 2_048)
    /// The documented limit for a single phone.
    private static let phoneBytes = 4_096

    /// What is wrong with a message's size, or `nil`: every component is measured in the form in which the relay sends it.
    package func violation(by message: RelayMessage) -> SchemaViolation? {
        let (most, receiver) = if case .token = message.target { (Self.phoneBytes, "phone") } else { (bytes, "topic") }
        let largest = message.components.map { FCMMessage.payloadBytes($0, of: message) }.max() ?? 0
        guard largest > most else { return nil }
        return SchemaViolation(
            field: "message",
            problem: "title, desc and message make an FCM payload of \(largest) bytes, \(largest - most) more than the "
                + "\(most) that a message to a \(receiver) may have")
    }
}
