package import Base

/// What a sender says (seed, "REST API", Message): the texts, their subject, and how they go out. ``MessagePost``, ``Message`` and the
/// commands `message.log`, `message.edit` and `message.relay` embed it, and none of them repeats its fields.
///
/// A decoder of a caller's JSON checks it (``check()``), in whatever it is embedded. What is stored is read without a check, because a rule
/// may have become stricter since.
package struct MessageContent: Codable, Checked, Hashable, Sendable {
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
    /// The time between the post and its going out by the server's clock, 0 to ``maxDelay``; instead of ``sendAt``.
    package var delay: Seconds?
    /// Whether it is a drill. Phones get its title with ``drillMark`` in front.
    package var drill: Bool?
    /// The `msi_key` of an earlier message that it follows, such as an all-clear.
    package var follows: ObjectID?
    /// Whether it corrects the message that it ``follows``: phones show it in that one's place.
    package var correction: Bool?
    /// The template that its texts were made from.
    package var template: ObjectID?
    /// The values of the template's placeholders, by name.
    package var values: [String: String]?

    package init(
        title: String, desc: String, message: String, topicKey: TopicKey, distribution: Distribution, ttl: Seconds? = nil,
        sendAt: UnixMilliseconds? = nil, options: DeliveryOptions? = nil, delay: Seconds? = nil, drill: Bool? = nil,
        follows: ObjectID? = nil, correction: Bool? = nil, template: ObjectID? = nil, values: [String: String]? = nil
    ) {
        self.title = title
        self.desc = desc
        self.message = message
        self.topicKey = topicKey
        self.distribution = distribution
        self.ttl = ttl
        self.sendAt = sendAt
        self.options = options
        self.delay = delay
        self.drill = drill
        self.follows = follows
        self.correction = correction
        self.template = template
        self.values = values
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
        case title, desc, message, distribution, ttl, options, delay, drill, follows, correction, template, values
        case topicKey = "topic_key"
        case sendAt = "send_at"
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let texts = MessageTexts(
            title: try fields.decode(String.self, forKey: .title), desc: try fields.decode(String.self, forKey: .desc),
            message: try fields.decode(String.self, forKey: .message))
        try self.init(texts, fields)
    }

    /// Reads the fields beside the texts.
    init(_ texts: MessageTexts, _ fields: KeyedDecodingContainer<CodingKeys>) throws {
        self.init(
            title: texts.title, desc: texts.desc, message: texts.message,
            topicKey: try fields.decode(TopicKey.self, forKey: .topicKey),
            distribution: try fields.decode(Distribution.self, forKey: .distribution),
            ttl: try fields.decodeIfPresent(Seconds.self, forKey: .ttl),
            sendAt: try fields.decodeIfPresent(UnixMilliseconds.self, forKey: .sendAt),
            options: try fields.decodeIfPresent(DeliveryOptions.self, forKey: .options),
            delay: try fields.decodeIfPresent(Seconds.self, forKey: .delay),
            drill: try fields.decodeIfPresent(Bool.self, forKey: .drill),
            follows: try fields.decodeIfPresent(ObjectID.self, forKey: .follows),
            correction: try fields.decodeIfPresent(Bool.self, forKey: .correction) == true ? true : nil,
            template: try fields.decodeIfPresent(ObjectID.self, forKey: .template),
            values: try fields.decodeIfPresent([String: String].self, forKey: .values))
    }

    package func check() throws(SchemaViolation) {
        if template == nil {
            try check(title: .title, desc: .notificationBody, message: .messageText)
            if distribution == .alert, desc.isInvisible { throw Self.noNotification }
        } else {
            // The texts were checked when the template was written, perhaps by an earlier version.
            try checkStored()
        }
        if drill == true, let problem = TextLimits.drillTitle.problem(with: title) {
            throw SchemaViolation(CodingKeys.title, "\(problem): a drill's title begins with \"\(Self.drillMark)\"")
        }
        try (0...maximumUnixMilliseconds).check(sendAt, CodingKeys.sendAt)
        try (0...Self.maxDelay).check(delay, CodingKeys.delay)
        if delay != nil, sendAt != nil { throw SchemaViolation(CodingKeys.delay, "expected a delay or a send_at, not both") }
        if correction == true, follows == nil {
            throw SchemaViolation(CodingKeys.correction, "expected only with follows, the message that is corrected")
        }
        if let values { try TemplateText.check(values: values, CodingKeys.values) }
        try options?.checkNew(CodingKeys.options)
        for (field, text) in [(CodingKeys.title, title), (.desc, desc), (.message, message)]
        where text.utf8.contains(UInt8(ascii: "{")) {
            guard let blank = TemplateText(text).blanks.first else { continue }
            throw SchemaViolation(field, "the blank {{\(blank)}} is not filled")
        }
    }

    /// Checks only what the relay and FCM need, for a message that an earlier version may have accepted.
    package func checkStored() throws(SchemaViolation) {
        try check(
            title: TextLimits.title.stored, desc: TextLimits.notificationBody.stored, message: TextLimits.messageText.stored)
        if distribution == .alert, desc.isBlank { throw Self.noNotification }
    }

    private func check(title: TextLimits, desc: TextLimits, message: TextLimits) throws(SchemaViolation) {
        try title.check(self.title, CodingKeys.title)
        try desc.check(self.desc, CodingKeys.desc)
        try message.check(self.message, CodingKeys.message)
        try (0...maxTimeToLive).check(ttl, CodingKeys.ttl)
    }

    private static let noNotification = SchemaViolation(
        CodingKeys.desc, "expected a text that is not empty: it is the push notification of an Alert")
}

extension MessageContent {
    /// The maximum of ``delay``: an hour.
    package static let maxDelay: Seconds = 3_600

    /// The start of a drill's title on the phones.
    package static let drillMark = "[DRILL] "

    /// The `msi_key` of the message that it corrects.
    package var corrects: ObjectID? {
        get { correction == true ? follows : nil }
        set { (follows, correction) = (newValue, newValue == nil ? nil : true) }
    }

    /// The texts.
    package var texts: MessageTexts {
        get { MessageTexts(title: title, desc: desc, message: message) }
        set { (title, desc, message) = (newValue.title, newValue.desc, newValue.message) }
    }

    /// The message as it is sent and stored: the title of a drill begins with ``drillMark``.
    package var marked: MessageContent {
        var marked = self
        marked.drill = drill == true ? true : nil
        marked.correction = correction == true ? true : nil
        if drill == true { marked.title = Self.drillMark + title }
        return marked
    }
}

extension TextLimits {
    /// A drill's title: with its mark it is a title.
    fileprivate static let drillTitle = TextLimits(
        max: TextLimits.title.max - MessageContent.drillMark.unicodeScalars.count, TextLimits.title.characters)
}

/// The texts of a message.
package struct MessageTexts: Hashable, Sendable {
    package let title: String
    package let desc: String
    package let message: String

    package init(title: String, desc: String, message: String) {
        self.title = title
        self.desc = desc
        self.message = message
    }
}

/// FCM's maximum and default time to live: four weeks.
package let maxTimeToLive: Seconds = 2_419_200
