import Bus
import FCM
import HTTPTypes
import Hummingbird
import Base
import Logging
import Schemas
import ServiceKit

/// Messages over HTTP (seed, "REST API", Message). The seed has no routes for reading, recalling or retrying messages; those are
/// additions.
struct MessageRoutes: Feature {
    let cube: CubeService
    let posting: MessagePosting
    let messageLog: CommandClient
    /// Finds the caller's credential once more during an export.
    let lookUp: CredentialLookup
    private let logger: Logger

    /// - Throws: ``ConfigurationError``.
    init(
        cube: CubeService, messageLog: CommandClient, settings: SettingValues, logger: Logger,
        lookUp: @escaping CredentialLookup
    ) throws {
        let lifetimes = MessageLifetimes(
            message: try settings.live(.messageTTL), alert: try settings.value(.alertTTL))
        posting = MessagePosting(
            cube: cube, messageLog: messageLog, payloadLimit: PayloadLimit(bytes: try settings.value(.fcmTopicPayloadLimit)),
            lifetimes: lifetimes)
        self.cube = cube
        self.messageLog = messageLog
        self.lookUp = lookUp
        self.logger = logger
    }

    var section: APISection {
        APISection(
            "Messages",
            "A message goes to the phones that subscribe to a subject. Every message can be followed: its `relay` says how far its "
                + "delivery is, and names FCM's answers.")
    }

    var routes: [Route] {
        [
            Route(.get, "/message", right: .read, query: HistoryQuery.self, answer: .ok(Page.self), list)
                .documented(
                    "Search the archive",
                    "The newest message comes first. Follow `next` until it is missing. Pages neither repeat nor miss a message "
                        + "while new ones arrive. Filters can be combined. With `format=csv` or `Accept: text/csv` the answer is a CSV "
                        + "file of all messages that match.",
                    answerHeaders: [.nextPage], also: [AnswerForm(.ok, mediaType: "text/csv")]),
            Route(.post, "/message", right: .send, body: MessagePost.self, answer: .created(Posted.self), post)
                .documented(
                    "Send a message",
                    "The answer comes after the message is safely stored. Its `state` is `pending`, or `held` if another account must "
                        + "approve the message first. The texts may come from a template, with `values` for its blanks. A correction gets "
                        + "409 while an earlier one of the same message is held or on its way. After a 503, or no answer at all, the message "
                        + "may be stored or not: repeat the request with the same `Idempotency-Key`.",
                    headers: [.idempotencyKey], answerHeaders: [.location, .idempotencyReplayed],
                    problems: [.topicUnknown, .distributionMismatch, .conflict, .payloadTooLarge]),
            send,
            Route(.get, "/message/:msi_key", right: .read, answer: .ok(Message.self)) { call in
                Answer(try await cube.visible(try await message(of: call), to: call.principal))
            }.documented(
                "Read a message",
                "Its `relay` says how far the delivery is. A message that another program has written, and that cannot be read, is 409.",
                problems: [.conflict]),
            edit,
            Route(.delete, "/message/:msi_key", right: .send, optionalBody: Recall.self, answer: .ok(Message.self)) { call in
                let recall = try await call.optionalBody()
                return try await answer(
                    RecallMessage(msiKey: call.identifier("msi_key"), reason: recall?.reason), for: call)
            }.documented(
                "Recall a message",
                "Takes back a message that has not gone out yet, since it is scheduled, or waits for a retry or for FCM's quota. Somebody who "
                    + "could approve a held message rejects it so. It stays in the archive as `recalled`. The body may be empty; its `reason` is "
                    + "in the message's trace. If it is too late, the answer is 409. Without the right `read` the answer is 204.",
                also: [AnswerForm(.noContent)], problems: [.conflict]),
            Route(.post, "/message/:msi_key/retry", right: .send, answer: .ok(Message.self)) { call in
                let message = try await message(of: call)
                // A retry sends it again, so the caller needs the right to send.
                try await cube.requireSend(call.principal, to: message.topicKey, message.names)
                return try await answer(RetryMessage(msiKey: message.msiKey), for: call)
            }.documented(
                "Send a failed message again",
                "Sends the components again that FCM did not accept. `expires` does not change. The answer is 409 if the message has "
                    + "not failed, has expired or was corrected. Without the right `read` it is 204.",
                also: [AnswerForm(.noContent)], problems: [.conflict]),
            Route(
                .post, "/message/:msi_key/approve", right: .send, query: SeenEdit.self, answer: .ok(Message.self)
            ) { call, seen in
                try call.principal.requirePerson()
                return try await answer(ApproveMessage(msiKey: call.identifier("msi_key"), edited: seen.edited), for: call)
            }.documented(
                "Approve a held message",
                "The message then goes out, at its `send_at` if that is later. The sender gets 403, and so do those who have edited it, and "
                    + "every token. The answer is 409 if the message is not held or has expired, was edited and `edited` is not the time of "
                    + "the last edit, or was restored from a backup and not released.",
                problems: [.conflict]),
        ]
    }

    /// The answer to a post: the message's identity and state.
    struct Posted: Codable {
        let msiKey: ObjectID
        let timestamp: UnixMilliseconds
        /// When it was stored: `held` or `pending`. A repeated post gets the same answer.
        let state: RelayState

        private enum CodingKeys: String, CodingKey {
            case msiKey = "msi_key"
            case timestamp, state
        }
    }

    private func post(_ call: Call<MessagePost>) async throws -> Answer<Posted> {
        let post = try await call.body()
        let key = try call.request.idempotencyKey
        return answer(to: try await posting.post(post, idempotencyKey: key, by: call.principal, for: call.caller))
    }

    func answer(to outcome: MessagePosting.Outcome) -> Answer<Posted> {
        logger.debug("accepted", metadata: ["msi_key": "\(outcome.msiKey)", "topic_key": "\(outcome.topicKey)"])
        var headers: HTTPFields = [.location: "/message/\(outcome.msiKey)"]
        if outcome.isReplay { headers[.idempotencyReplayed] = "true" }
        return Answer(
            Posted(msiKey: outcome.msiKey, timestamp: outcome.timestamp, state: outcome.needsApproval ? .held : .pending),
            headers: headers)
    }

    /// One page, newest first. `next` is the path of the next page, and is also sent as a `Link`. The last page has none.
    struct Page: Codable {
        let messages: [Message]
        let next: String?
    }

    private func list(_ call: Call<NoBody>, _ query: HistoryQuery) async throws -> Answer<Page> {
        if query.format(for: call.request) == .csv { return try await export(call, query) }
        let command = await cube.placed(query.command)
        let page = try await messageLog.history(command, for: try await cube.reader(call.principal), call.caller)
        let next = page.next.map { query.next(at: $0, after: call.request) }
        return Answer(
            Page(messages: try await cube.visible(page.messages, to: call.principal), next: next),
            headers: next.map { [.link: "<\($0)>; rel=\"next\"", .vary: "Accept"] } ?? [.vary: "Accept"])
    }

    /// The message in the path. Callers who may not read it get the answer to an unknown one.
    func message<Body: Sendable>(of call: Call<Body>) async throws -> Message {
        let message = try await messageLog.request(GetMessage(msiKey: call.identifier("msi_key")), context: call.caller)
        guard try await cube.mayRead(call.principal, message) else { throw Problem(.notFound, "no message \(message.msiKey)") }
        return message
    }

    /// The answer to a command about one message: the message, if the caller may read it.
    func answer<C: Command, Body: Sendable>(_ command: C, for call: Call<Body>) async throws -> Answer<Message>
    where C.Reply == Message {
        _ = try await message(of: call)
        return try await answer(with: try await messageLog.request(command, context: call.caller), for: call)
    }

    /// The answer with a message, if the caller may read it.
    func answer<Body: Sendable>(with message: Message, for call: Call<Body>) async throws -> Answer<Message> {
        guard call.principal.has(.read) else { return .noContent }
        return Answer(try await cube.visible(message, to: call.principal))
    }
}

/// The body of `DELETE /message/:msi_key`, which may be left out.
struct Recall: Codable, Checked, Sendable {
    /// Why the message is taken back or rejected; `nil` for none.
    let reason: String?

    private enum CodingKeys: CodingKey, CaseIterable {
        case reason
    }

    func check() throws(SchemaViolation) {
        try TextLimits.reason.check(reason, CodingKeys.reason)
    }
}

extension Recall: SchemaAnnotated, HasExample {
    static var schemaAnnotations: JSONValue {
        ["properties": ["reason": ["description": "Why. The sender and all who read the message see it."]]]
    }

    static var example: Recall { Recall(reason: "The room is wrong.") }
}
