/// `message.relay`: send a message's components to FCM (seed, "Message", `relay`, whose input this is).
///
/// `components`, `ttl` and `expires` may be left out: then all the components of the distribution are sent, with FCM's
/// longest time to live. A load tester needs no more than the seed's seven fields.
package struct RelayMessage: Command, Hashable {
    package static let name = "message.relay"

    package struct Reply: Codable, Hashable, Sendable {
        /// One entry for each component that was asked for, in the same order.
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

    package init(
        msiKey: ObjectID, timestamp: UnixMilliseconds, draft: MessageDraft, expires: UnixMilliseconds? = nil,
        components: [Component]? = nil
    ) {
        self.msiKey = msiKey
        self.timestamp = timestamp
        self.draft = draft
        self.expires = expires
        self.components = components ?? draft.distribution.components
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case title, desc, message
        case topicKey = "topic_key"
        case distribution, timestamp, ttl, expires, components
    }

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        msiKey = try fields.value(.msiKey)
        timestamp = try fields.integer(.timestamp, in: 0...maximumUnixMilliseconds)
        draft = MessageDraft(
            title: try fields.text(.title, .title),
            desc: try fields.text(.desc, .notificationBody),
            message: try fields.text(.message, .messageText),
            topicKey: try fields.value(.topicKey),
            distribution: try fields.value(.distribution),
            ttl: try fields.optionalInteger(.ttl, in: 0...FCMMessage.longestTimeToLive))
        expires = try fields.optionalInteger(.expires, in: 0...maximumUnixMilliseconds)
        components = try fields.optional(.components) ?? draft.distribution.components
        guard !components.isEmpty, Set(components).count == components.count,
            Set(components).isSubset(of: draft.distribution.components)
        else {
            let allowed = draft.distribution.components.map(\.rawValue).joined(separator: ", ")
            throw fields.violation(
                .components, "expected one or more of \(allowed), each once, for distribution \(draft.distribution.rawValue)")
        }
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
    }
}

/// The last moment that fits MongoDB's and JavaScript's dates: the year 9999 in Unix milliseconds.
package let maximumUnixMilliseconds: UnixMilliseconds = 253_402_300_799_999
