package import JSON
package import Schemas

/// FCM's limit on a message's payload, in bytes.
///
/// FCM permanently refuses a message of more than 4,096 bytes, to topics and to phones. FCM's error reference also names 2,048
/// bytes for topics, but FCM was not seen to enforce that.
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

    /// The limit for a message to a target.
    func bytes(to target: RelayTarget) -> Int {
        if case .token = target { Self.phoneBytes } else { bytes }
    }

    /// Why a message is too large even without the texts that can be left out (``FittingTexts``), or `nil`. With FCM's own limit no
    /// valid message is.
    package func violation(by message: RelayMessage) -> SchemaViolation? {
        let most = bytes(to: message.target)
        let largest = message.components.map { FittingTexts($0, of: message, within: most).bytes }.max() ?? 0
        guard largest > most else { return nil }
        return SchemaViolation(
            field: "title",
            problem: "also without desc and message, it makes an FCM payload of \(largest) bytes, \(largest - most) more than "
                + "the \(most) that a message may have")
    }
}
