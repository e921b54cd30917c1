import Base

/// A subject of an area: `channel.areas[i].subjects[j]` (seed, "Schema"). Phones subscribe to its topic.
package struct Subject: Codable, Hashable, Sendable, Identifiable {
    package var id: ObjectID
    package var name: String
    package var desc: String
    package var access: [String]
    package var topicKey: TopicKey
    package var opt: SubjectOptions
    /// Keywords.
    package var tags: [String]
    /// Whether a second person must approve each message; absent for `false`.
    package var approval: Bool?

    private enum CodingKeys: String, CodingKey {
        case id, name, desc, access, opt, tags, approval
        case topicKey = "topic_key"
    }

    package init(
        id: ObjectID, name: String, desc: String, access: [String] = [], topicKey: TopicKey, opt: SubjectOptions,
        tags: [String] = [], approval: Bool? = nil
    ) {
        self.id = id
        self.name = name
        self.desc = desc
        self.access = access
        self.topicKey = topicKey
        self.opt = opt
        self.tags = tags
        self.approval = approval
    }
}

/// How a subject's topic is subscribed to and distributed.
package struct SubjectOptions: Codable, Hashable, Sendable {
    package var level: SubscriptionLevel
    package var distribution: Distribution

    package init(level: SubscriptionLevel, distribution: Distribution) {
        self.level = level
        self.distribution = distribution
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case level, distribution
    }
}

/// Whether students choose the subscription themselves (seed, "Data Dictionary", `opt.level`).
package enum SubscriptionLevel: String, ClosedEnum {
    /// Subscribed automatically, cannot unsubscribe.
    case forced = "Forced"
    /// Subscribed automatically, can unsubscribe.
    case recommended = "Recommended"
    /// Not subscribed automatically, can subscribe.
    case optional = ""
}

/// How a subject's messages reach the phone (seed, "Data Dictionary", `opt.distribution`).
package enum Distribution: String, ClosedEnum {
    /// A push notification, and the message in the app.
    case alert = "Alert"
    /// The message in the app, silently.
    case information = "Information"
}
