package import Base

/// `message.fanout`: divides the subscriptions of a message's subject into blocks, and logs a push for each of them (`push.log`, with the
/// transport `webpush`). The reply comes once the message log has stored all blocks.
///
/// If it is repeated, no subscription gets a second push: the blocks are those of the first time, and so are their idempotency keys.
/// `unavailable` means that the store cannot be read, or that the message log does not take the blocks; it is safe to repeat.
///
/// The fields are those of `message.relay`, without what only FCM needs.
package struct FanOutMessage: Command, Checked, Hashable {
    package static let name = "message.fanout"

    package struct Reply: Codable, Hashable, Sendable {
        /// The number of subscriptions that get a push.
        package let subscriptions: Int

        package init(subscriptions: Int) {
            self.subscriptions = subscriptions
        }
    }

    package let msiKey: ObjectID
    package let timestamp: UnixMilliseconds
    package let content: MessageContent
    package let expires: UnixMilliseconds?

    package init(msiKey: ObjectID, timestamp: UnixMilliseconds, content: MessageContent, expires: UnixMilliseconds? = nil) {
        self.msiKey = msiKey
        self.timestamp = timestamp
        self.content = content
        self.expires = expires
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey = "msi_key"
        case title, desc, message
        case topicKey = "topic_key"
        case distribution, timestamp, ttl, expires, corrects
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
            ttl: try container.decodeIfPresent(Seconds.self, forKey: .ttl))
        content.corrects = try container.decodeIfPresent(ObjectID.self, forKey: .corrects)
        self.content = content
        expires = try container.decodeIfPresent(UnixMilliseconds.self, forKey: .expires)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(msiKey, forKey: .msiKey)
        try container.encode(timestamp, forKey: .timestamp)
        try container.encode(content.title, forKey: .title)
        try container.encode(content.desc, forKey: .desc)
        try container.encode(content.message, forKey: .message)
        try container.encode(content.topicKey, forKey: .topicKey)
        try container.encode(content.distribution, forKey: .distribution)
        try container.encodeIfPresent(content.ttl, forKey: .ttl)
        try container.encodeIfPresent(content.corrects, forKey: .corrects)
        try container.encodeIfPresent(expires, forKey: .expires)
    }

    package func check() throws(SchemaViolation) {
        try content.checkStored()
        try (0...maximumUnixMilliseconds).check(timestamp, CodingKeys.timestamp)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
    }
}

/// The `message` of a push with the transport `webpush` (``RelayPush``, ``LogPush``): what each subscription's browser gets, and the
/// headers of RFC 8030. The push's `tokens` are ids of subscriptions.
package struct WebPushMessage: Codable, Checked, Hashable, Sendable {
    /// RFC 8030, section 5.3.
    package enum Urgency: String, ClosedEnum {
        case veryLow = "very-low"
        case low, normal, high
    }

    /// An object in Apple's declarative form. The URL in `notification.navigate` is relative to the subscription's app, and is completed
    /// for each subscription.
    package let payload: JSONValue
    /// How long the push service keeps it for a browser that is away, at most ``maxTimeToLive``; by default until the push expires.
    package let ttl: Seconds?
    package let urgency: Urgency
    /// Of the pushes with the same topic that wait for a browser, the push service keeps only the newest.
    package let topic: String?

    package init(payload: JSONValue, ttl: Seconds? = nil, urgency: Urgency, topic: String? = nil) {
        self.payload = payload
        self.ttl = ttl
        self.urgency = urgency
        self.topic = topic
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case payload, ttl, urgency, topic
    }

    /// It as a push's `message`.
    package var json: JSONValue {
        var json: JSONValue = ["payload": payload, "urgency": .string(urgency.rawValue)]
        if let ttl { json["ttl"] = .integer(ttl.rawValue) }
        if let topic { json["topic"] = .string(topic) }
        return json
    }

    /// Reads a push's `message`.
    ///
    /// - Throws: ``SchemaViolation``.
    package init(_ json: JSONValue) throws {
        self = try JSONCoder.decodeStrictly(from: json.data)
    }

    package func check() throws(SchemaViolation) {
        guard payload.members != nil else { throw SchemaViolation(CodingKeys.payload, "expected an object") }
        try (0...maxTimeToLive).check(ttl, CodingKeys.ttl)
        try TextLimits.webPushTopic.check(topic, CodingKeys.topic)
    }
}

extension TextLimits {
    /// RFC 8030, section 5.4: the characters of URL-safe Base64.
    fileprivate static let webPushTopic = TextLimits(max: 32, lettersDigitsAnd: "-_")
}
