package import Base

/// `topic.subscribe`: subscribes phones to a subject's topic. Idempotent.
package struct SubscribePhones: TopicCommand {
    package static let name = "topic.subscribe"

    package let phones: TopicPhones

    package init(_ phones: TopicPhones) {
        self.phones = phones
    }
}

/// `topic.unsubscribe`: unsubscribes phones. Phones that are not subscribed are ignored.
package struct UnsubscribePhones: TopicCommand {
    package static let name = "topic.unsubscribe"

    package let phones: TopicPhones

    package init(_ phones: TopicPhones) {
        self.phones = phones
    }
}

/// A command whose fields are those of ``TopicPhones``.
package protocol TopicCommand: Command, Checked, Hashable where Reply == TopicResults {
    var phones: TopicPhones { get }

    init(_ phones: TopicPhones)
}

extension TopicCommand {
    package init(from decoder: any Decoder) throws {
        self.init(try TopicPhones(from: decoder))
    }

    package func encode(to encoder: any Encoder) throws {
        try phones.encode(to: encoder)
    }

    package func check() throws(SchemaViolation) {
        try phones.check()
    }
}

/// The topic and the phones to subscribe or unsubscribe: `{"topic_key":"…","tokens":["…"],"project":"…"}`.
package struct TopicPhones: Codable, Checked, Hashable, Sendable {
    /// FCM's limit for one call.
    package static let maxTokens = 1_000

    package let topicKey: TopicKey
    /// Registration tokens, 1 to ``maxTokens``.
    package let tokens: [String]
    /// The Firebase project; by default that of the topic's channel.
    package let project: String?

    package init(topicKey: TopicKey, tokens: [String], project: String? = nil) {
        self.topicKey = topicKey
        self.tokens = tokens
        self.project = project
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case topicKey = "topic_key"
        case tokens, project
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.project.check(project, CodingKeys.project)
        guard (1...Self.maxTokens).contains(tokens.count) else {
            throw SchemaViolation(
                CodingKeys.tokens, "expected 1 to \(Self.maxTokens) registration tokens, found \(tokens.count)")
        }
        for (position, token) in tokens.enumerated() {
            if let problem = TextLimits.registrationToken.problem(with: token) {
                throw SchemaViolation(CodingKeys.tokens, "number \(position): \(problem)")
            }
        }
    }
}

/// The outcome for each phone, in the order of the tokens: `{"results":[{},{"error":{…}}]}`.
package struct TopicResults: Codable, Hashable, Sendable {
    package struct Result: Codable, Hashable, Sendable {
        /// Absent after success.
        package let error: DeliveryError?

        package init(error: DeliveryError? = nil) {
            self.error = error
        }
    }

    package let results: [Result]

    package init(results: [Result]) {
        self.results = results
    }
}

/// `topic.list`: the topics that FCM has a phone subscribed to.
package struct ListTopics: Command, Checked, Hashable {
    package static let name = "topic.list"

    /// `{"topics":["…"]}`, sorted. They include topics that are in no cube.
    package struct Reply: Codable, Hashable, Sendable {
        package let topics: [String]

        package init(topics: [String]) {
            self.topics = topics
        }
    }

    /// The phone's registration token: only ASCII letters, digits and `:_-`.
    package let token: String
    /// The Firebase project that the phone is registered with; by default, each of the relay's projects is asked.
    package let project: String?

    package init(token: String, project: String? = nil) {
        self.token = token
        self.project = project
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case token, project
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.tokenInURL.check(token, CodingKeys.token)
        try TextLimits.project.check(project, CodingKeys.project)
    }
}

extension TextLimits {
    /// The limits of a registration token that becomes a path segment of a URL.
    static let tokenInURL = TextLimits(max: 1_024, lettersDigitsAnd: ":_-")
}
