package import Base

/// A service's push to phones: a document of the `push` collection. It is not a message of the cube, and not in the
/// history of messages.
package struct Push: Hashable, Sendable {
    package var id: ObjectID
    /// The sender: the `actor` of the command.
    package var sender: String
    /// The sender's key for the push.
    package var idempotencyKey: String
    package var transport: PushTransport
    package var fairnessKey: String
    /// The transport's own message without its recipient; for FCM the `message` of its v1 API, with snake_case names, and for Web Push a
    /// ``WebPushMessage``. That of a push to persons is ``person``.
    package var message: JSONValue
    package var urgency: Urgency
    /// The Firebase project; by default the relay's default one.
    package var project: String?
    /// When it was logged.
    package var logged: UnixMilliseconds
    /// When it expires.
    package var expires: UnixMilliseconds
    /// The scheduled time; `nil` for at once.
    package var notBefore: UnixMilliseconds?
    /// The W3C trace context of the command that logged it, which each attempt to relay it continues.
    package var traceparent: String?
    package var relay: PushRecord

    package init(
        id: ObjectID = ObjectID(), sender: String, idempotencyKey: String, transport: PushTransport, fairnessKey: String,
        message: JSONValue, urgency: Urgency, project: String? = nil, logged: UnixMilliseconds, expires: UnixMilliseconds,
        notBefore: UnixMilliseconds? = nil, traceparent: String? = nil, relay: PushRecord
    ) {
        self.id = id
        self.sender = sender
        self.idempotencyKey = idempotencyKey
        self.transport = transport
        self.fairnessKey = fairnessKey
        self.message = message
        self.urgency = urgency
        self.project = project
        self.logged = logged
        self.expires = expires
        self.notBefore = notBefore
        self.traceparent = traceparent
        self.relay = relay
    }

    package var recipients: [PushRecipient] { relay.recipients.map(\.recipient) }

    /// What a push to persons says, and to how many; `nil` for other pushes.
    package var person: StoredPersonPush? { StoredPersonPush(message: message) }

    /// The message whose pushes to browsers it is a block of; `nil` for other pushes.
    package var messageKey: ObjectID? {
        guard transport == .webpush else { return nil }
        return message["payload"]?["msi"]?["msi_key"]?.string.flatMap { ObjectID($0) }
    }

    /// The tokens that FCM reports as unregistered.
    package var unregistered: [String] { relay.recipients.filter(\.isUnregistered).compactMap(\.recipient.token) }

    /// Whether another push is the result of the same command.
    package func isSameCommand(as other: Push) -> Bool {
        transport == other.transport && fairnessKey == other.fairnessKey && message == other.message
            && project == other.project && expires == other.expires && notBefore == other.notBefore
            // By now devices may have taken the place of the accounts. The message has the number of these.
            && (StoredPersonPush.isMessage(message) || recipients == other.recipients)
    }
}

extension Push: Codable {
    private enum CodingKeys: String, CodingKey {
        case id = "push_id"
        case sender, transport, message, urgency, project, logged, expires, relay, traceparent
        case idempotencyKey = "idempotency_key"
        case fairnessKey = "fairness_key"
        case notBefore = "not_before"
    }

    /// The fields of its document that are derived from the others.
    private enum DerivedKeys: CodingKey {
        case unregistered
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(sender, forKey: .sender)
        try container.encode(idempotencyKey, forKey: .idempotencyKey)
        try container.encode(transport, forKey: .transport)
        try container.encode(fairnessKey, forKey: .fairnessKey)
        try container.encode(message, forKey: .message)
        try container.encode(urgency, forKey: .urgency)
        try container.encodeIfPresent(project, forKey: .project)
        try container.encode(logged, forKey: .logged)
        try container.encode(expires, forKey: .expires)
        try container.encodeIfPresent(notBefore, forKey: .notBefore)
        try container.encodeIfPresent(traceparent, forKey: .traceparent)
        try container.encode(relay, forKey: .relay)
        let unregistered = unregistered
        guard !unregistered.isEmpty else { return }
        var derived = encoder.container(keyedBy: DerivedKeys.self)
        try derived.encode(unregistered, forKey: .unregistered)
    }
}

/// The service that delivers a push. The outbox does not depend on it; another transport needs its own relay.
package enum PushTransport: String, ClosedEnum {
    /// Firebase Cloud Messaging, by its HTTP v1 API.
    case fcm
    /// Web Push (RFC 8030), to browsers.
    case webpush
}

/// The outbox shares its turns between these keys. Many items under one key do not delay those under others.
package enum FairnessKey: Sendable {
    /// The topic of a cube message.
    case topic(TopicKey)
    /// The key that a service chose for its push. Two names are the same if their bytes are, as in both databases.
    case named(String)
}

extension FairnessKey: Hashable {
    package static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.topic(let topic), .topic(let otherTopic)): topic == otherTopic
        case (.named(let name), .named(let otherName)): ExactText(name) == ExactText(otherName)
        case (.topic, .named), (.named, .topic): false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .topic(let topic): hasher.combine(topic)
        case .named(let name): hasher.combine(ExactText(name))
        }
    }
}

/// The urgency of a delivery. Urgent items go out first, here and in the relay.
package enum Urgency: String, ClosedEnum {
    case high, normal
}

extension Distribution {
    /// An Alert is urgent.
    package var urgency: Urgency {
        switch self {
        case .alert: .high
        case .information: .normal
        }
    }

    /// The distribution whose messages have this urgency.
    package init(_ urgency: Urgency) {
        self =
            switch urgency {
            case .high: .alert
            case .normal: .information
            }
    }
}
