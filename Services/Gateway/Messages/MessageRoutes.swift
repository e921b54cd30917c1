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
    private let posting: MessagePosting
    private let messageLog: CommandClient
    private let logger: Logger

    /// - Throws: ``ConfigurationError``.
    init(cube: CubeService, messageLog: CommandClient, settings: SettingValues, logger: Logger) throws {
        let lifetimes = MessageLifetimes(
            message: try settings.value(.messageTTL), alert: try settings.value(.alertTTL))
        posting = MessagePosting(
            cube: cube, messageLog: messageLog, payloadLimit: PayloadLimit(bytes: try settings.value(.fcmTopicPayloadLimit)),
            lifetimes: lifetimes)
        self.messageLog = messageLog
        self.logger = logger
    }

    var routes: [Route] {
        [
            Route(.get, "/message", right: .read, answer: .ok(Page.self), list),
            Route(.post, "/message", right: .send, body: MessageDraft.self, answer: .created(Posted.self), post),
            Route(.get, "/message/:msi_key", right: .read, answer: .ok(Message.self)) { call in
                try await answer(GetMessage(msiKey: call.identifier("msi_key")), for: call)
            },
            Route(.delete, "/message/:msi_key", right: .send, answer: .ok(Message.self)) { call in
                try await answer(RecallMessage(msiKey: call.identifier("msi_key")), for: call)
            },
            Route(.post, "/message/:msi_key/retry", right: .send, answer: .ok(Message.self)) { call in
                try await answer(RetryMessage(msiKey: call.identifier("msi_key")), for: call)
            },
        ]
    }

    /// The answer to a post: the message's identity.
    private struct Posted: Encodable {
        let msiKey: ObjectID
        let timestamp: UnixMilliseconds

        private enum CodingKeys: String, CodingKey {
            case msiKey = "msi_key"
            case timestamp
        }
    }

    private func post(_ call: Call<MessageDraft>) async throws -> Answer<Posted> {
        let key = try idempotencyKey(of: call.request)
        let outcome = try await posting.post(try await call.body(), idempotencyKey: key, for: call.caller)
        let message = outcome.message
        logger.info("accepted", metadata: ["msi_key": "\(message.msiKey)", "topic_key": "\(message.topicKey)"])
        var headers: HTTPFields = [.location: "/message/\(message.msiKey)"]
        if outcome.isReplay { headers[.idempotencyReplayed] = "true" }
        return Answer(Posted(msiKey: message.msiKey, timestamp: message.timestamp), headers: headers)
    }

    /// One page, newest first. `next` is the path of the next page, and is also sent as a `Link`. The last page has none.
    private struct Page: Encodable {
        let messages: [Message]
        let next: String?
    }

    private func list(_ call: Call<NoBody>) async throws -> Answer<Page> {
        let query = try HistoryQuery(call.request)
        let page = try await messageLog.request(query.command, context: call.caller)
        let next = page.next.map(query.next)
        return Answer(
            Page(messages: page.messages, next: next), headers: next.map { [.link: "<\($0)>; rel=\"next\""] } ?? [:])
    }

    /// The answer to a command about one message: the message.
    private func answer<C: Command>(_ command: C, for call: Call<NoBody>) async throws -> Answer<Message>
    where C.Reply == Message {
        Answer(try await messageLog.request(command, context: call.caller))
    }

    private func idempotencyKey(of request: Request) throws -> String? {
        guard let key = request.headers[.idempotencyKey] else { return nil }
        if let problem = TextLimits.idempotencyKey.problem(with: key) {
            throw Problem(.invalidField, "Idempotency-Key: \(problem)", field: "Idempotency-Key")
        }
        return key
    }
}
