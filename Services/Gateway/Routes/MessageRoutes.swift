import CommandBus
import HTTPTypes
import Hummingbird
import Logging
import Schemas

/// Messages over HTTP (seed, "REST API", Message; the seed has no way to read them back, so that is made to fit).
struct MessageRoutes {
    let posting: MessagePosting
    let messageLog: CommandClient
    let logger: Logger

    func register(in router: Router<GatewayContext>) {
        router.path("/message", [.get: list, .post: post])
        router.path("/message/:msi_key", [.get: show])
    }

    /// The answer to a post: what identifies the message.
    private struct Posted: Encodable {
        let msiKey: ObjectID
        let timestamp: UnixMilliseconds

        private enum CodingKeys: String, CodingKey {
            case msiKey = "msi_key"
            case timestamp
        }
    }

    @Sendable private func post(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let key = try idempotencyKey(of: request)
        let draft = try await RequestBody.decode(MessageDraft.self, from: request)
        let outcome = try await posting.post(draft, idempotencyKey: key)
        let message = outcome.message
        logger.info("accepted", metadata: ["msi_key": "\(message.msiKey)", "topic_key": "\(message.topicKey)"])
        var headers: HTTPFields = [.location: "/message/\(message.msiKey)"]
        if outcome.isReplay { headers[.idempotencyReplayed] = "true" }
        return try .json(
            Posted(msiKey: message.msiKey, timestamp: message.timestamp), status: .created, headers: headers)
    }

    /// One page, newest first. The next one is at `next`, which is also a `Link`; the last page has none.
    private struct Page: Encodable {
        let messages: [Message]
        let next: String?
    }

    @Sendable private func list(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let limit = try parameter("limit", of: request, expected: "an integer from 1 to \(ListMessages.mostPerPage)") { text in
            Int64(text).flatMap { (1...ListMessages.mostPerPage).contains($0) ? $0 : nil }
        }
        let before = try parameter("before", of: request, expected: "the \"next\" of another page") { PageCursor($0) }
        let command = ListMessages(limit: limit ?? 50, before: before)
        let page = try await messageLog.request(command)
        let next = page.next.map { "/message?limit=\(command.limit)&before=\($0)" }
        return try .json(
            Page(messages: page.messages, next: next), headers: next.map { [.link: "<\($0)>; rel=\"next\""] } ?? [:])
    }

    @Sendable private func show(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try .json(await messageLog.request(GetMessage(msiKey: try context.identifier("msi_key"))))
    }

    private func idempotencyKey(of request: Request) throws -> String? {
        guard let key = request.headers[.idempotencyKey] else { return nil }
        if let problem = TextLimits.idempotencyKey.problem(with: key) {
            throw Problem(.invalidField, "Idempotency-Key: \(problem)", field: "Idempotency-Key")
        }
        return key
    }

    private func parameter<Value>(
        _ name: String, of request: Request, expected: String, parse: (String) -> Value?
    ) throws -> Value? {
        guard let text = request.uri.queryParameters[name[...]] else { return nil }
        guard let value = parse(String(text)) else {
            throw Problem(.invalidField, "\(name): expected \(expected)", field: name)
        }
        return value
    }
}
