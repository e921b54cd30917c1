package import Base

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

/// `relay.pace`: the relay's present rate of sends, and the waiting sends.
package struct ReadPace: Command, Hashable {
    package static let name = "relay.pace"
    package typealias Reply = RelayPace

    package init() {}
}

/// The reply to `relay.pace`.
package struct RelayPace: Codable, Hashable, Sendable {
    /// One for each Firebase project, the default one first.
    package let projects: [ProjectPace]

    package init(projects: [ProjectPace]) {
        self.projects = projects
    }
}

/// The rate of a project's sends. A message is one send for each component.
package struct ProjectPace: Codable, Hashable, Sendable {
    package let id: String
    /// Sends a second, now.
    package let rate: Double
    /// Sends a second once the ramp is over.
    package let fullRate: Double
    /// The number of sends that wait for their turn.
    package let waiting: Int
    /// How much longer FCM's quota for the project is used up; absent if it is not.
    package let pausedFor: Milliseconds?

    private enum CodingKeys: String, CodingKey {
        case id, rate, waiting
        case fullRate = "full_rate"
        case pausedFor = "paused_for"
    }

    package init(id: String, rate: Double, fullRate: Double, waiting: Int, pausedFor: Milliseconds?) {
        self.id = id
        self.rate = rate
        self.fullRate = fullRate
        self.waiting = waiting
        self.pausedFor = pausedFor
    }
}

/// `relay.withdraw`: answers the commands for a message or a push whose sends wait for their turn, because of FCM's quota, with the
/// retryable error of a send that waits too long. What is on its way to FCM continues, and so does a push of which a group is.
///
/// A message log that is asked to recall the message asks every relay.
package struct WithdrawSends: Command, Hashable {
    package static let name = "relay.withdraw"

    package struct Reply: Codable, Hashable, Sendable {
        /// The number of commands.
        package let withdrawn: Int

        package init(withdrawn: Int) {
            self.withdrawn = withdrawn
        }
    }

    /// The `msi_key` of a message, or the `push_id` of a push.
    package let key: ObjectID

    package init(_ key: ObjectID) {
        self.key = key
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case key
    }
}
