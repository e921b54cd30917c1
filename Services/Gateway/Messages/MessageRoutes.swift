import CommandBus
import HTTPTypes
import Hummingbird
import JSON
import Logging
import Schemas

/// Messages over HTTP (seed, "REST API", Message). The routes to read, recall and retry messages are not in the seed.
struct MessageRoutes {
    let posting: MessagePosting
    let messageLog: CommandClient
    let logger: Logger

    func register(in router: Router<GatewayContext>) {
        router.path("/message", [.get: list, .post: post])
        router.path("/message/:msi_key", [.get: show, .delete: recall])
        router.path("/message/:msi_key/retry", [.post: retry])
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

    @Sendable private func post(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let key = try idempotencyKey(of: request)
        let draft = try await RequestBody.decode(MessageDraft.self, from: request)
        let outcome = try await posting.post(draft, idempotencyKey: key, for: context.caller)
        let message = outcome.message
        logger.info("accepted", metadata: ["msi_key": "\(message.msiKey)", "topic_key": "\(message.topicKey)"])
        var headers: HTTPFields = [.location: "/message/\(message.msiKey)"]
        if outcome.isReplay { headers[.idempotencyReplayed] = "true" }
        return try .json(
            Posted(msiKey: message.msiKey, timestamp: message.timestamp), status: .created, headers: headers)
    }

    /// One page, newest first. `next` is the path of the next page, and is also sent as a `Link`. The last page has none.
    private struct Page: Encodable {
        let messages: [Message]
        let next: String?
    }

    @Sendable private func list(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let query = try HistoryQuery(request)
        let page = try await messageLog.request(query.command, context: context.caller)
        let next = page.next.map(query.next)
        return .json(
            large: try JSONCoder.encode(Page(messages: page.messages, next: next)), on: context.channel,
            headers: next.map { [.link: "<\($0)>; rel=\"next\""] } ?? [:])
    }

    @Sendable private func show(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let command = GetMessage(msiKey: try context.identifier("msi_key"))
        return try .json(await messageLog.request(command, context: context.caller))
    }

    @Sendable private func recall(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let command = RecallMessage(msiKey: try context.identifier("msi_key"))
        return try .json(await messageLog.request(command, context: context.caller))
    }

    @Sendable private func retry(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let command = RetryMessage(msiKey: try context.identifier("msi_key"))
        return try .json(await messageLog.request(command, context: context.caller))
    }

    private func idempotencyKey(of request: Request) throws -> String? {
        guard let key = request.headers[.idempotencyKey] else { return nil }
        if let problem = TextLimits.idempotencyKey.problem(with: key) {
            throw Problem(.invalidField, "Idempotency-Key: \(problem)", field: "Idempotency-Key")
        }
        return key
    }
}
