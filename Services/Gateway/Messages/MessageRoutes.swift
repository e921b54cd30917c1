import CommandBus
import FCM
import HTTPTypes
import Hummingbird
import Logging
import Schemas
import ServiceKit
import Time

/// Messages over HTTP (seed, "REST API", Message). The seed has no way to read messages back, to recall them or to try them
/// again; those routes are ours.
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
            Route(.delete, "/message/:msi_key", right: .send, answer: .ok(Message.self)) { call in
                try await answer(RecallMessage(msiKey: call.identifier("msi_key")), for: call)
            }.documented(
                "Recall a message",
                "Takes back a message that has not gone out yet, since it is scheduled, or waits for a retry or for FCM's quota. It stays in the archive "
                    + "as `recalled`. If it is too late, the answer is 409. Without the right `read` the answer is 204.",
                also: [AnswerForm(.noContent)], problems: [.conflict]),
            Route(.post, "/message/:msi_key/retry", right: .send, answer: .ok(Message.self)) { call in
                let message = try await message(of: call)
                // It goes out once more.
                try await cube.requireSend(call.principal, to: message.topicKey, message.names)
                return try await answer(RetryMessage(msiKey: message.msiKey), for: call)
            }.documented(
                "Send a failed message again",
                "Sends the components again that FCM did not accept. `expires` does not change. The answer is 409 if the message has "
                    + "not failed, has expired or was corrected. Without the right `read` it is 204.",
                also: [AnswerForm(.noContent)], problems: [.conflict]),
            Route(.post, "/message/:msi_key/approve", right: .send, answer: .ok(Message.self)) { call in
                try call.principal.requirePerson()
                return try await answer(ApproveMessage(msiKey: call.identifier("msi_key")), for: call)
            }.documented(
                "Approve a held message",
                "The message then goes out, at its `send_at` if that is later. The sender gets 403, and so does "
                    + "every token. The answer is 409 if the message is not held or has expired, or was restored from a backup and not released.",
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
        let message = outcome.message
        logger.info("accepted", metadata: ["msi_key": "\(message.msiKey)", "topic_key": "\(message.topicKey)"])
        var headers: HTTPFields = [.location: "/message/\(message.msiKey)"]
        if outcome.isReplay { headers[.idempotencyReplayed] = "true" }
        return Answer(
            Posted(msiKey: message.msiKey, timestamp: message.timestamp, state: message.approval == true ? .held : .pending),
            headers: headers)
    }

    /// One page, newest first. `next` is the path of the next page, and is also sent as a `Link`. The last page has none.
    struct Page: Codable {
        let messages: [Message]
        let next: String?
    }

    private func list(_ call: Call<NoBody>, _ query: HistoryQuery) async throws -> Answer<Page> {
        if query.format(for: call.request) == .csv { return try await export(call, query) }
        let page = try await messageLog.history(query.command, for: try await cube.reader(call.principal), call.caller)
        let next = page.next.map { query.next(at: $0, after: call.request) }
        return Answer(
            Page(messages: try await cube.visible(page.messages, to: call.principal), next: next),
            headers: next.map { [.link: "<\($0)>; rel=\"next\"", .vary: "Accept"] } ?? [.vary: "Accept"])
    }

    /// The message in the path. Callers who may not read it get the answer to an unknown one.
    private func message(of call: Call<NoBody>) async throws -> Message {
        let message = try await messageLog.request(GetMessage(msiKey: call.identifier("msi_key")), context: call.caller)
        guard try await cube.mayRead(call.principal, message) else { throw Problem(.notFound, "no message \(message.msiKey)") }
        return message
    }

    /// The answer to a command about one message: the message, if the caller may read it.
    private func answer<C: Command>(_ command: C, for call: Call<NoBody>) async throws -> Answer<Message>
    where C.Reply == Message {
        _ = try await message(of: call)
        let message = try await messageLog.request(command, context: call.caller)
        guard try call.principal.has(.read) else { return .noContent }
        return Answer(try await cube.visible(message, to: call.principal))
    }
}
