package import JSON
package import Time

/// A portal's post (seed, "REST API", Message): the texts and their subject.
package struct MessageDraft: Codable, Checked, Hashable, Sendable {
    package var title: String
    /// The push notification's body; may be empty for Information.
    package var desc: String
    package var message: String
    package var topicKey: TopicKey
    /// The subject's distribution. The portal repeats it, so that a stale form is detected.
    package var distribution: Distribution
    /// The time to live from the time when it goes out, 0 to ``maxTimeToLive``. With 0, FCM delivers at
    /// once or not at all.
    package var ttl: Seconds?
    /// The scheduled time; `nil` for at once.
    package var sendAt: UnixMilliseconds?
    /// How FCM and the phones treat it.
    package var options: DeliveryOptions?

    package init(
        title: String, desc: String, message: String, topicKey: TopicKey, distribution: Distribution, ttl: Seconds? = nil,
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
