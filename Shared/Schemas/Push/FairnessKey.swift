import JSON

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
