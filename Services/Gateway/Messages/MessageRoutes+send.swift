import Bus
import HTTPRouting
import HTTPTypes
import Base
import Schemas

/// Sending by the names of channel, area and subject, for scripts.
extension MessageRoutes {
    var send: Route {
        Route(
            .post, "/send/:channel/:area/:subject", right: .send, query: SendQuery.self, body: TextBody.self,
            answer: .created(Posted.self)
        ) { call, query in
            let names = try SubjectNames(
                channel: call.name("channel"), area: call.name("area"), subject: call.name("subject"))
            let text = try await call.text(as: "message")
            let key = try call.request.idempotencyKey
            let outcome = try await posting.post(idempotencyKey: key, by: call.principal, for: call.caller) {
                let subject = try names.find(in: try await cube.current().channels).subject
                return MessagePost(
                    try query.draft(text: text, to: subject.topicKey, named: subject.name, subject.opt.distribution))
            } isFirst: { stored in
                let draft = try? query.draft(
                    text: text, to: stored.topicKey, named: stored.names.subject, stored.distribution)
                return names.fit(stored.names) && draft.map { stored.isResult(of: MessagePost($0)) } ?? false
            }
            return answer(to: outcome)
        }.documented(
            "Send a text by names",
            "For scripts: the body is the text of the message, in UTF-8; JSON and forms are refused. Its title is the parameter `title`, or else the first of several lines, "
                + "which is then no part of the text, or else the subject's name. The notification text of an Alert is `desc`, or else the "
                + "beginning of the text. Names are percent-encoded; if no name is exactly "
                + "the same, their case does not matter.",
            path: ["channel": String.self, "area": String.self, "subject": String.self],
            headers: [.idempotencyKey], answerHeaders: [.location, .idempotencyReplayed],
            problems: [.ambiguousName, .notFound, .payloadTooLarge])
    }
}

extension RouteCall {
    /// A name in the path, decoded.
    ///
    /// - Throws: ``Problem``.
    fileprivate func name(_ parameter: String) throws -> String {
        guard let name = self.parameter(parameter)?.percentDecoded else {
            throw Problem(.invalidField, "\(parameter): expected a name, percent-encoded in UTF-8", field: parameter)
        }
        return name
    }
}

/// The parameters of `POST /send/…`.
struct SendQuery: Decodable, Checked {
    let title: String?
    let desc: String?
    let ttl: Seconds?
    let sendAt: UnixMilliseconds?
    let delay: Seconds?
    let drill: Bool?
    let link: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case title, desc, ttl, delay, drill, link
        case sendAt = "send_at"
    }

    func check() throws(SchemaViolation) {
        try TextLimits.title.check(title, CodingKeys.title)
        try TextLimits.notificationBody.check(desc, CodingKeys.desc)
        try (0...maxTimeToLive).check(ttl, CodingKeys.ttl)
        try (0...maximumUnixMilliseconds).check(sendAt, CodingKeys.sendAt)
        try DeliveryOptions(link: link).check()
    }

    /// The message with this text. Without a title, the first of several lines becomes the title and is removed from the text; the
    /// title of a single line is the subject's name. Without a description, an Alert's notification shows the beginning of the
    /// text.
    ///
    /// - Parameter subject: The subject's name.
    /// - Throws: ``SchemaViolation`` if a part of the message is too long or empty.
    func draft(
        text: String, to topicKey: TopicKey, named subject: String, _ distribution: Distribution
    ) throws(SchemaViolation) -> MessageContent {
        // Text from a shell usually ends with a newline that is not part of the message.
        let text = text.trimmingNewlines
        guard !text.isInvisible else {
            throw SchemaViolation(field: "message", problem: "expected a text as the body, which is the text of the message")
        }
        let headed = title == nil ? text.headed : nil
        if let headed, let problem = TextLimits.title.problem(with: headed.title) {
            throw SchemaViolation(
                field: "title",
                problem: "\(problem): without the parameter title, the first of several lines of the text is the title")
        }
        let body = headed?.body ?? text
        let content = MessageContent(
            title: title ?? headed?.title ?? subject, desc: desc ?? (distribution == .alert ? body.beginning : ""),
            message: body, topicKey: topicKey, distribution: distribution, ttl: ttl, sendAt: sendAt,
            options: link.map { DeliveryOptions(link: $0) }, delay: delay, drill: drill)
        try content.check()
        return content
    }
}

extension String {
    /// The first visible line, and the text after it; `nil` if no visible text follows.
    fileprivate var headed: (title: String, body: String)? {
        let lines = split(whereSeparator: \.isNewline)
        guard let first = lines.first(where: { !$0.isInvisible }) else { return nil }
        let body = String(self[first.endIndex...]).trimmingNewlines
        return body.isInvisible ? nil : (String(first.replacing("\t", with: " ")), body)
    }

    /// As many whole characters as a notification may have, with an ellipsis in place of the rest.
    fileprivate var beginning: String {
        guard unicodeScalars.count > TextLimits.notificationBody.max else { return self }
        var (end, room) = (startIndex, TextLimits.notificationBody.max - 1)
        for index in indices {
            room -= self[index].unicodeScalars.count
            guard room >= 0 else { break }
            end = self.index(after: index)
        }
        return self[..<end] + "…"
    }

    /// The text without the newlines at its beginning and its end.
    fileprivate var trimmingNewlines: String {
        guard let first = firstIndex(where: { !$0.isNewline }), let last = lastIndex(where: { !$0.isNewline }) else { return "" }
        return String(self[first...last])
    }
}
