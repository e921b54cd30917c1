package import JSON

/// `push.relay`: sends one FCM message to a topic, a condition or phones, and returns an outcome for each recipient.
package struct RelayPush: Command, PushCommand, Checked, Hashable {
    package static let name = "push.relay"

    package struct Reply: Codable, Hashable, Sendable {
        /// One for each recipient, in the order of the command.
        package let results: [SendResult]

        package init(results: [SendResult]) {
            self.results = results
        }
    }

    /// A repeated command with the same id and content is sent once.
    package let pushID: ObjectID
    /// The default is ``PushTransport/fcm``.
    package let transport: PushTransport?
    package let topic: String?
    package let condition: String?
    package let tokens: [String]?
    /// The `message` of FCM's v1 API without its recipient.
    package let message: JSONValue
    package let expires: UnixMilliseconds?
    /// FCM checks the message and does not deliver it; the default is `false`.
    package let validateOnly: Bool?
    package let project: String?

    package init(
        pushID: ObjectID, transport: PushTransport? = nil, recipients: [PushRecipient], message: JSONValue,
        expires: UnixMilliseconds? = nil, validateOnly: Bool? = nil, project: String? = nil
    ) {
        self.pushID = pushID
        self.transport = transport
        (topic, condition, tokens) = recipients.fields
        self.message = message
        self.expires = expires
        self.validateOnly = validateOnly
        self.project = project
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case transport, topic, condition, tokens, message, expires, project
        case pushID = "push_id"
        case validateOnly = "validate_only"
    }

    package func check() throws(SchemaViolation) {
        try checkRecipients()
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
        try TextLimits.project.check(project, CodingKeys.project)
    }
}

/// The outcome for one recipient: `{"name":"projects/…"}` or `{"error":{…}}`.
package struct SendResult: Codable, Hashable, Sendable {
    package let result: Result<String, DeliveryError>

    package init(_ result: Result<String, DeliveryError>) {
        self.result = result
    }

    private enum CodingKeys: CodingKey {
        case name, error
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let error = try container.decodeIfPresent(DeliveryError.self, forKey: .error) {
            result = .failure(error)
        } else {
            result = .success(try container.decode(String.self, forKey: .name))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch result {
        case .success(let name): try container.encode(name, forKey: .name)
        case .failure(let error): try container.encode(error, forKey: .error)
        }
    }
}
