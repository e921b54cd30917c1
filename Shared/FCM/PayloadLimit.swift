package import JSON
package import Schemas

/// FCM's limit on a message's payload, in bytes.
///
/// FCM permanently refuses a message of more than 4,096 bytes, to topics and to phones. So the gateway refuses it, and its author
/// can shorten it. FCM's error reference also names 2,048 bytes for topics, but FCM was not seen to enforce that.
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

    /// Why a message is too large, or `nil`. Every component is measured in the form in which the relay sends it.
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
