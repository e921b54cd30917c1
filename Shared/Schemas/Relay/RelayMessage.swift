package import JSON
import Time

/// `message.relay`: sends a message's components to FCM (seed, "Message", the input of `relay`).
///
/// All fields except the seed's seven are optional. `corrects` is the `msi_key` of the message that it corrects. Without them, all components of the distribution are sent to the topic
/// `topic_key`, with FCM's maximum time to live.
package struct RelayMessage: Command, Checked, Hashable {
    package static let name = "message.relay"

    package struct Reply: Codable, Hashable, Sendable {
        /// One entry for each requested component, in the same order.
        package let components: [ComponentOutcome]

        package init(components: [ComponentOutcome]) {
            self.components = components
        }
    }

    package let msiKey: ObjectID
    package let timestamp: UnixMilliseconds
    package let draft: MessageDraft
    package let expires: UnixMilliseconds?
    package let components: [Component]
    /// The target: `condition` or `token` in JSON, or neither.
    package let target: RelayTarget
    /// FCM checks the message and does not deliver it.
    package let validateOnly: Bool
    /// The Firebase project; by default that of the message's channel.
    package let project: String?

    package init(
        msiKey: ObjectID, timestamp: UnixMilliseconds, draft: MessageDraft, expires: UnixMilliseconds? = nil,
        components: [Component]? = nil, target: RelayTarget = .topic, validateOnly: Bool = false, project: String? = nil
    ) {
        self.msiKey = msiKey
        self.timestamp = timestamp
        self.draft = draft
        self.expires = expires
        self.components = components ?? draft.distribution.components
        self.target = target
        self.validateOnly = validateOnly
        self.project = project
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case title, desc, message
        case topicKey = "topic_key"
        case distribution, timestamp, ttl, expires, components, options, condition, token, project, corrects
        case validateOnly = "validate_only"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        msiKey = try container.decode(ObjectID.self, forKey: .msiKey)
        timestamp = try container.decode(UnixMilliseconds.self, forKey: .timestamp)
        let corrects = try container.decodeIfPresent(ObjectID.self, forKey: .corrects)
        draft = MessageDraft(
            title: try container.decode(String.self, forKey: .title),
            desc: try container.decode(String.self, forKey: .desc),
            message: try container.decode(String.self, forKey: .message),
            topicKey: try container.decode(TopicKey.self, forKey: .topicKey),
            distribution: try container.decode(Distribution.self, forKey: .distribution),
            ttl: try container.decodeIfPresent(Seconds.self, forKey: .ttl),
            options: try container.decodeIfPresent(DeliveryOptions.self, forKey: .options), follows: corrects,
            correction: corrects == nil ? nil : true)
        expires = try container.decodeIfPresent(UnixMilliseconds.self, forKey: .expires)
        components = try container.decodeIfPresent([Component].self, forKey: .components) ?? draft.distribution.components
        let condition = try container.decodeIfPresent(String.self, forKey: .condition)
        if let token = try container.decodeIfPresent(String.self, forKey: .token) {
            if condition != nil {
                throw DecodingError.dataCorruptedError(
                    forKey: .token, in: container, debugDescription: "expected a condition or a token, not both")
            }
            target = .token(token)
        } else {
            target = condition.map { .condition($0) } ?? .topic
        }
        validateOnly = try container.decodeIfPresent(Bool.self, forKey: .validateOnly) ?? false
        project = try container.decodeIfPresent(String.self, forKey: .project)
    }

    package func check() throws(SchemaViolation) {
        try draft.checkStored()
        try (0...maximumUnixMilliseconds).check(timestamp, CodingKeys.timestamp)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
        let allowed = draft.distribution.components
        // Nearly always it is all of them.
        if components != allowed {
            guard !components.isEmpty, Set(components).count == components.count, Set(components).isSubset(of: allowed) else {
                let names = allowed.map(\.rawValue).joined(separator: ", ")
                throw SchemaViolation(
                    CodingKeys.components,
                    "expected one or more of \(names), each once, for distribution \(draft.distribution.rawValue)")
            }
        }
        switch target {
        case .topic: break
        case .condition(let condition): try TextLimits.condition.check(condition, CodingKeys.condition)
        case .token(let token): try TextLimits.registrationToken.check(token, CodingKeys.token)
        }
        try TextLimits.project.check(project, CodingKeys.project)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(msiKey, forKey: .msiKey)
        try container.encode(draft.title, forKey: .title)
        try container.encode(draft.desc, forKey: .desc)
        try container.encode(draft.message, forKey: .message)
        try container.encode(draft.topicKey, forKey: .topicKey)
        try container.encode(draft.distribution, forKey: .distribution)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encodeIfPresent(draft.ttl, forKey: .ttl)
        try container.encodeIfPresent(expires, forKey: .expires)
        try container.encode(components, forKey: .components)
        try container.encodeIfPresent(draft.options, forKey: .options)
        switch target {
        case .topic: break
        case .condition(let condition): try container.encode(condition, forKey: .condition)
        case .token(let token): try container.encode(token, forKey: .token)
        }
        if validateOnly { try container.encode(true, forKey: .validateOnly) }
        try container.encodeIfPresent(project, forKey: .project)
        try container.encodeIfPresent(draft.corrects, forKey: .corrects)
    }
}

extension TextLimits {
    /// Enough for five topics of 900 characters with operators.
    package static let condition = TextLimits(max: 5_000)
    /// A Firebase project's id.
    package static let project = TextLimits(max: 100)
    /// A phone's registration token, or its installation id.
    package static let registrationToken = TextLimits(max: 4_096)
}

/// The last point in time that fits MongoDB's and JavaScript's dates: the end of the year 9999.
package let maximumUnixMilliseconds: UnixMilliseconds = 253_402_300_799_999
