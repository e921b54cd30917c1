package import JSON

/// What a portal posts (seed, "REST API", Message): the words, and which subject they go out under.
package struct MessageDraft: Codable, Checked, Hashable, Sendable {
    package var title: String
    /// The push notification's body; may be empty for information.
    package var desc: String
    package var message: String
    package var topicKey: TopicKey
    /// The subject's own distribution, repeated, so that a portal that shows a stale form is told so.
    package var distribution: Distribution
    /// For how many seconds it is worth delivering once it goes out, 0 to ``maxTimeToLive``; 0 is now or never.
    package var ttl: Int64?
    /// When it is to go out; at once without it.
    package var sendAt: UnixMilliseconds?
    /// How FCM and the phones are to treat it.
    package var options: DeliveryOptions?

    package init(
        title: String, desc: String, message: String, topicKey: TopicKey, distribution: Distribution, ttl: Int64? = nil,
        sendAt: UnixMilliseconds? = nil, options: DeliveryOptions? = nil
    ) {
        self.title = title
        self.desc = desc
        self.message = message
        self.topicKey = topicKey
        self.distribution = distribution
        self.ttl = ttl
        self.sendAt = sendAt
        self.options = options
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case title, desc, message, distribution, ttl, options
        case topicKey = "topic_key"
        case sendAt = "send_at"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.title.check(title, CodingKeys.title)
        try TextLimits.notificationBody.check(desc, CodingKeys.desc)
        try TextLimits.messageText.check(message, CodingKeys.message)
        try (0...maxTimeToLive).check(ttl, CodingKeys.ttl)
        try (0...maximumUnixMilliseconds).check(sendAt, CodingKeys.sendAt)
        if distribution == .alert, desc.isBlank {
            throw SchemaViolation(
                CodingKeys.desc, "expected a text that is not empty: it is the push notification of an Alert")
        }
    }
}
