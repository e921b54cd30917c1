package import JSON
import Time

/// A portal's post: the body of `POST /message`. It has its texts, or a template with the values for its blanks.
package struct MessagePost: Codable, Checked, Hashable, Sendable {
    private var title: String?
    private var desc: String?
    private var message: String?
    package var topicKey: TopicKey
    package var distribution: Distribution
    private var ttl: Seconds?
    private var sendAt: UnixMilliseconds?
    private var options: DeliveryOptions?
    private var delay: Seconds?
    private var drill: Bool?
    package var follows: ObjectID?
    private var correction: Bool?
    package var template: ObjectID?
    /// The revision of the template whose texts the sender has seen; `nil` to send the present ones.
    package let templateRevision: Revision?
    private var values: [String: String]?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case title, desc, message, distribution, ttl, options, delay, drill, follows, correction, template, values
        case topicKey = "topic_key"
        case sendAt = "send_at"
        case templateRevision = "template_revision"
    }

    /// The post of a message that has its texts.
    package init(_ draft: MessageDraft) {
        title = draft.title
        desc = draft.desc
        message = draft.message
        topicKey = draft.topicKey
        distribution = draft.distribution
        ttl = draft.ttl
        sendAt = draft.sendAt
        options = draft.options
        delay = draft.delay
        drill = draft.drill
        follows = draft.follows
        correction = draft.correction
        templateRevision = nil
    }

    package func check() throws(SchemaViolation) {
        let texts = [(CodingKeys.title, title), (.desc, desc), (.message, message)]
        guard template != nil else {
            for (field, text) in texts where text == nil { throw SchemaViolation(field, "missing, but required") }
            for (field, isPresent) in [(CodingKeys.values, values != nil), (.templateRevision, templateRevision != nil)]
            where isPresent {
                throw SchemaViolation(field, "expected only with a template")
            }
            _ = try draft()
            return
        }
        for (field, text) in texts where text != nil {
            throw SchemaViolation(field, "expected no text beside a template, which has the texts")
        }
        // The texts are checked when they are filled.
        try draft(with: MessageTexts(title: "-", desc: "-", message: "-")).check()
    }

    /// The message of a post without a template.
    ///
    /// - Throws: A violation that names the field.
    package func draft() throws(SchemaViolation) -> MessageDraft {
        try checked(draft(with: MessageTexts(title: title ?? "", desc: desc ?? "", message: message ?? "")))
    }

    /// The message of a post with this template.
    ///
    /// - Throws: A violation that names the value, or the text that is too long.
    package func draft(from template: MessageTemplate) throws(SchemaViolation) -> MessageDraft {
        try checked(draft(with: template.filled(with: values ?? [:])))
    }

    /// Whether it corrects the message that it ``follows``.
    package var isCorrection: Bool { correction == true }

    /// The key by which FCM collapses it; `nil` for none.
    package var collapseKey: String? { options?.collapseKey }

    /// Whether a stored message is the result of this post. The template may have changed since.
    package func isSource(of stored: MessageDraft) -> Bool {
        if template == nil {
            draft(with: MessageTexts(title: title ?? "", desc: desc ?? "", message: message ?? "")).marked == stored
        } else {
            draft(with: MessageTexts(title: stored.title, desc: stored.desc, message: stored.message), drill: stored.drill)
                == stored && (drill ?? false) == (stored.drill ?? false)
        }
    }

    private func draft(with texts: MessageTexts, drill: Bool?) -> MessageDraft {
        MessageDraft(
            title: texts.title, desc: texts.desc, message: texts.message, topicKey: topicKey, distribution: distribution,
            ttl: ttl,
            sendAt: sendAt, options: options, delay: delay, drill: drill, follows: follows,
            correction: isCorrection ? true : nil, template: template, values: values)
    }

    private func draft(with texts: MessageTexts) -> MessageDraft {
        draft(with: texts, drill: drill)
    }

    private func checked(_ draft: MessageDraft) throws(SchemaViolation) -> MessageDraft {
        try draft.check()
        try draft.checkBlanks()
        return draft
    }
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
