package import JSON
package import Time

/// A message that is to be sent (seed, "REST API", Message): the texts, their subject, and how it goes out. ``MessagePost`` is the form in
/// which portals post it.
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
    /// What the template's blanks were filled with, by their names.
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

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case title, desc, message, distribution, ttl, options, delay, drill, follows, correction, template, values
        case topicKey = "topic_key"
        case sendAt = "send_at"
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

extension MessageDraft {
    /// The maximum of ``delay``: an hour.
    package static let maxDelay: Seconds = 3_600

    /// The start of a drill's title on the phones.
    package static let drillMark = "[DRILL] "

    /// The `msi_key` of the message that it corrects.
    package var corrects: ObjectID? { correction == true ? follows : nil }

    /// The message as it is sent and stored: the title of a drill begins with ``drillMark``.
    package var marked: MessageDraft {
        var marked = self
        marked.drill = drill == true ? true : nil
        marked.correction = correction == true ? true : nil
        if drill == true { marked.title = Self.drillMark + title }
        return marked
    }

    /// Refuses a text with a blank of a template.
    ///
    /// - Throws: A violation that names the text.
    package func checkBlanks() throws(SchemaViolation) {
        let texts = [(CodingKeys.title, title), (.desc, desc), (.message, message)]
        for (field, text) in texts where text.utf8.contains(UInt8(ascii: "{")) {
            guard let blank = TemplateText(text).blanks.first else { continue }
            throw SchemaViolation(field, "the blank {{\(blank)}} is not filled")
        }
    }
}

extension TextLimits {
    /// A drill's title: with its mark it is a title.
    fileprivate static let drillTitle = TextLimits(
        max: TextLimits.title.max - MessageDraft.drillMark.unicodeScalars.count, TextLimits.title.characters)
}
