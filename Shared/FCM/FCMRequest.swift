package import Schemas

/// The body of `POST /v1/projects/{project}/messages:send`: `{"message":{…},"validate_only":true}`.
package struct FCMRequest: Codable, Hashable, Sendable {
    package let message: FCMMessage
    /// FCM checks the message and does not deliver it. Omitted if it is false.
    package var validateOnly: Bool { validation ?? false }
    private let validation: Bool?

    package init(message: FCMMessage, validateOnly: Bool = false) {
        self.message = message
        validation = validateOnly ? true : nil
    }

    /// One component of a message, sent now.
    ///
    /// - Parameter now: As for ``FCMMessage/init(_:of:now:defaults:)``.
    package init(
        _ component: Component, of message: RelayMessage, now: UnixMilliseconds, defaults: FCMDefaults = FCMDefaults()
    ) {
        self.init(
            message: FCMMessage(component, of: message, now: now, defaults: defaults), validateOnly: message.validateOnly)
    }

    private enum CodingKeys: String, CodingKey {
        case message
        case validation = "validate_only"
    }
}
