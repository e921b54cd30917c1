package import Schemas

/// The body of `POST /v1/projects/{project}/messages:send`: `{"message":{…},"validate_only":true}`.
package struct FCMRequest: Codable, Hashable, Sendable {
    package let message: FCMMessage
    /// FCM checks the message and does not deliver it. Omitted if it is false.
    package let validateOnly: Bool

    package init(message: FCMMessage, validateOnly: Bool = false) {
        self.message = message
        self.validateOnly = validateOnly
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
        case validateOnly = "validate_only"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        message = try container.decode(FCMMessage.self, forKey: .message)
        validateOnly = try container.decodeIfPresent(Bool.self, forKey: .validateOnly) ?? false
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(message, forKey: .message)
        if validateOnly { try container.encode(true, forKey: .validateOnly) }
    }
}
