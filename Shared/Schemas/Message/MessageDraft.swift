import JSON

/// What a portal posts (seed, "REST API", Message): the words, and which subject they go out under.
package struct MessageDraft: Codable, Hashable, Sendable {
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

    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(of: decoder, as: CodingKeys.self)
        title = try fields.text(.title, .title)
        desc = try fields.text(.desc, .notificationBody)
        message = try fields.text(.message, .messageText)
        topicKey = try fields.value(.topicKey)
        distribution = try fields.value(.distribution)
        ttl = try fields.optionalInteger(.ttl, in: 0...maxTimeToLive)
        sendAt = try fields.optionalInteger(.sendAt, in: 0...maximumUnixMilliseconds)
        options = try fields.optional(.options, as: CheckedDeliveryOptions.self)?.options
        if let problem = problemWithDesc { throw fields.violation(.desc, problem) }
    }

    /// What is wrong with ``desc`` for the distribution, or `nil`.
    var problemWithDesc: String? {
        guard distribution == .alert, desc.isBlank else { return nil }
        return "expected a text that is not empty: it is the push notification of an Alert"
    }
}
