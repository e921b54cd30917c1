import Hummingbird
import Base
import Schemas

/// `POST /v1/projects/{project}/messages:send`: FCM's HTTP v1 API.
struct SendRoute: Sendable {
    /// The limit is larger than any valid message, even if every character is escaped, with a part for each platform. FCM
    /// gives the same error for a body of hundreds of kilobytes as for one that is a few bytes too large. A larger body
    /// is refused unread.
    private static let maxBodyBytes = 1_048_576

    let authorization: Authorization
    let project: ProjectPath
    let topicPayloadLimit: Int
    let faults: FaultInjector
    let processor: SendProcessor

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource(
            "v1/projects/:project/messages:send",
            [
                .post: { request, context in
                    let project = try context.pathParameter("project")
                    return try await processor.counted { try await send(request, project: project) }
                }
            ])
    }

    private func send(_ request: Request, project: String) async throws -> Response? {
        try authorization.check(request)
        let now = UnixMilliseconds.now()
        let body = try await request.bytes(
            max: Self.maxBodyBytes, orElse: .messageTooLarge(max: PayloadSize.maxBytes))
        try self.project.check(project)
        return try await processor.withinProjectQuota(now: now) { isAccepted in
            let message = try SendRequest(body: body, topicPayloadLimit: topicPayloadLimit)
            return try await faults.perform(.send, message.target.subject) {
                let name = try await accept(message, body, now: now)
                isAccepted = true
                return Response(.ok, ["name": .string(name)])
            }
        }
    }

    /// - Returns: FCM's name for the message.
    private func accept(_ message: SendRequest, _ body: [UInt8], now: UnixMilliseconds) async throws -> String {
        guard !message.validateOnly else {
            try await processor.checkRegistration(of: message.target)
            return MessageName.dryRun(project: project.id, to: message.target)
        }
        let name = MessageName.new(project: project.id, to: message.target, now: now)
        try await processor.accept(message, name: name, body: body, now: now)
        return name
    }
}
