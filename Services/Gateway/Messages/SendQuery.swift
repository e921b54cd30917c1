import JSON
import Schemas
import Time

/// The parameters of `POST /send/…`.
struct SendQuery: Decodable, Checked {
    let title: String?
    let desc: String?
    let ttl: Seconds?
    let sendAt: UnixMilliseconds?
    let delay: Seconds?
    let drill: Bool?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case title, desc, ttl, delay, drill
        case sendAt = "send_at"
    }

    func check() throws(SchemaViolation) {
        try TextLimits.title.check(title, CodingKeys.title)
        try TextLimits.notificationBody.check(desc, CodingKeys.desc)
        try (0...maxTimeToLive).check(ttl, CodingKeys.ttl)
        try (0...maximumUnixMilliseconds).check(sendAt, CodingKeys.sendAt)
    }

    /// The message with this text: without a title, its first line is the title; without a description, the title is an Alert's
    /// notification text.
    ///
    /// - Throws: ``SchemaViolation`` if a part of the message is too long or empty.
    func draft(
        text: String, to topicKey: TopicKey, _ distribution: Distribution
    ) throws(SchemaViolation) -> MessageDraft {
        // A shell's text ends with a newline, which is not meant.
        let text = text.trimmingNewlines
        guard !text.isInvisible else {
            throw SchemaViolation(field: "message", problem: "expected a text as the body, which is the text of the message")
        }
        let firstLine = text.split(whereSeparator: \.isNewline).first { !$0.isInvisible }
            .map { String($0.replacing("\t", with: " ")) }
        if title == nil, let firstLine, let problem = TextLimits.title.problem(with: firstLine) {
            throw SchemaViolation(
                field: "title", problem: "\(problem): without the parameter title, the first line of the text is the title")
        }
        let title = title ?? firstLine ?? ""
        let draft = MessageDraft(
            title: title, desc: desc ?? (distribution == .alert ? title : ""), message: text, topicKey: topicKey,
            distribution: distribution, ttl: ttl, sendAt: sendAt, delay: delay, drill: drill)
        try draft.check()
        return draft
    }
}

extension String {
    /// The text without the newlines at its beginning and its end.
    fileprivate var trimmingNewlines: String {
        guard let first = firstIndex(where: { !$0.isNewline }), let last = lastIndex(where: { !$0.isNewline }) else { return "" }
        return String(self[first...last])
    }
}
