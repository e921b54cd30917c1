package import Base

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
    package let content: MessageContent
    package let expires: UnixMilliseconds?
    package let components: [Component]
    /// The target: `condition` or `token` in JSON, or neither.
    package let target: RelayTarget
    /// FCM checks the message and does not deliver it.
    package let validateOnly: Bool
    /// The Firebase project; by default that of the message's channel.
    package let project: String?

    package init(
        msiKey: ObjectID, timestamp: UnixMilliseconds, content: MessageContent, expires: UnixMilliseconds? = nil,
        components: [Component]? = nil, target: RelayTarget = .topic, validateOnly: Bool = false, project: String? = nil
    ) {
        self.msiKey = msiKey
        self.timestamp = timestamp
        self.content = content
        self.expires = expires
        self.components = components ?? content.distribution.components
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
        var content = MessageContent(
            title: try container.decode(String.self, forKey: .title),
            desc: try container.decode(String.self, forKey: .desc),
            message: try container.decode(String.self, forKey: .message),
            topicKey: try container.decode(TopicKey.self, forKey: .topicKey),
            distribution: try container.decode(Distribution.self, forKey: .distribution),
            ttl: try container.decodeIfPresent(Seconds.self, forKey: .ttl),
            options: try container.decodeIfPresent(DeliveryOptions.self, forKey: .options))
        content.corrects = try container.decodeIfPresent(ObjectID.self, forKey: .corrects)
        self.content = content
        expires = try container.decodeIfPresent(UnixMilliseconds.self, forKey: .expires)
        components = try container.decodeIfPresent([Component].self, forKey: .components) ?? content.distribution.components
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
        try content.checkStored()
        try (0...maximumUnixMilliseconds).check(timestamp, CodingKeys.timestamp)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
        let allowed = content.distribution.components
        // Nearly always it is all of them.
        if components != allowed {
            guard !components.isEmpty, Set(components).count == components.count, Set(components).isSubset(of: allowed) else {
                let names = allowed.map(\.rawValue).joined(separator: ", ")
                throw SchemaViolation(
                    CodingKeys.components,
                    "expected one or more of \(names), each once, for distribution \(content.distribution.rawValue)")
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
        try container.encode(content.title, forKey: .title)
        try container.encode(content.desc, forKey: .desc)
        try container.encode(content.message, forKey: .message)
        try container.encode(content.topicKey, forKey: .topicKey)
        try container.encode(content.distribution, forKey: .distribution)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encodeIfPresent(content.ttl, forKey: .ttl)
        try container.encodeIfPresent(expires, forKey: .expires)
        try container.encode(components, forKey: .components)
        try container.encodeIfPresent(content.options, forKey: .options)
        switch target {
        case .topic: break
        case .condition(let condition): try container.encode(condition, forKey: .condition)
        case .token(let token): try container.encode(token, forKey: .token)
        }
        if validateOnly { try container.encode(true, forKey: .validateOnly) }
        try container.encodeIfPresent(project, forKey: .project)
        try container.encodeIfPresent(content.corrects, forKey: .corrects)
    }
}

extension TextLimits {
    /// A Firebase project's id.
    package static let project = TextLimits(max: 100)
    /// A phone's registration token, or its installation id.
    package static let registrationToken = TextLimits(max: 4_096)
}

/// The target of a message.
package enum RelayTarget: Hashable, Sendable {
    /// The phones that are subscribed to the message's `topic_key`.
    case topic
    /// The phones whose topics fulfil a condition, such as `'a' in topics && !('b' in topics)`, with at most five topics.
    case condition(String)
    /// One phone, by its registration token.
    case token(String)
}

/// The outcome of one component: FCM's name for it if it was accepted, otherwise the error.
package struct ComponentOutcome: Codable, Hashable, Sendable {
    package let component: Component
    package let result: Result<String, DeliveryError>

    package init(component: Component, result: Result<String, DeliveryError>) {
        self.component = component
        self.result = result
    }

    private enum CodingKeys: CodingKey {
        case component
    }

    /// `{"component":"data","name":"projects/…"}` or `{"component":"data","error":{…}}`.
    package init(from decoder: any Decoder) throws {
        component = try decoder.container(keyedBy: CodingKeys.self).decode(Component.self, forKey: .component)
        result = try SendResult(from: decoder).result
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(component, forKey: .component)
        try SendResult(result).encode(to: encoder)
    }
}
