package import JSON
package import Schemas

/// FCM's limit on what a message carries, in bytes.
///
/// FCM refuses a message of more than 4,096 bytes for good, to a topic as to a phone: so it is refused at the door, where its
/// author can still shorten it. The 2,048 bytes for topics in FCM's error reference were not seen to be enforced.
package struct PayloadLimit: Hashable, Sendable {
    /// For messages to topics and conditions.
    package let bytes: Int

    package init(bytes: Int) {
        self.bytes = bytes
    }

    /// FCM's limit for topics.
    package static let topic = PayloadLimit(bytes: 4_096)
    /// FCM's limit for a single phone.
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
