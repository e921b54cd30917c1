import HTTPTypes
import Hummingbird
import Schemas

/// `POST /v1/projects/{project}/messages:send`: FCM's HTTP v1 API.
struct SendRoute: Sendable {
    /// Room for a message of FCM's size with every character escaped, for each platform.
    private static let longestBody = 262_144

    let authorization: Authorization
    let project: String
    let topicPayloadLimit: Int
    let faults: FaultInjector
    let quotas: Adjustable<Quotas>
    let store: EmulatorStore
    let streams: OpenStreams

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource(
            "v1/projects/:project/messages:send",
            [
                .post: { request, context in
                    try await send(request, project: try context.parameters.require("project"))
                }
            ])
    }

    private func send(_ request: Request, project: String) async throws -> Response {
        let now = UnixMilliseconds.now()
        try authorization.check(request, now: now)
        let body = try await request.bytes(most: Self.longestBody)
        guard project == self.project else { throw GoogleError.permissionDenied(project: project) }
        return try await withinProjectQuota(now: now) { isAccepted in
            let message = try SendRequest(body: body, topicPayloadLimit: topicPayloadLimit)
            return try await faults.perform(.send, message.target.subject) {
                let response = try await accept(message, body, now: now)
                isAccepted = true
                return response
            } ?? .unheard
        }
    }

    /// Does a request if the project's quota allows it. FCM counts what it accepts and what it refuses as wrong, but neither what
    /// exceeds a quota nor its own failures.
    private func withinProjectQuota(
        now: UnixMilliseconds, _ work: (inout Bool) async throws -> Response
    ) async throws -> Response {
        if let excess = quotas.withLock({ $0.takeFromProject(now: now) }) { throw GoogleError(excess, .none) }
        var isAccepted = false
        var status: HTTPResponse.Status?
        defer {
            let isRefused = status.map { $0.kind == .clientError && $0 != .tooManyRequests } ?? false
            if !isAccepted, !isRefused { quotas.withLock { $0.putBackToProject() } }
        }
        do {
            let response = try await work(&isAccepted)
            status = response.status
            return response
        } catch let error as GoogleError {
            status = error.httpStatus
            throw error
        }
    }

    private func accept(_ message: SendRequest, _ body: [UInt8], now: UnixMilliseconds) async throws -> Response {
        guard !message.validateOnly else { return Response(.ok, ["name": .string(MessageName.fake(project: project))]) }
        if let excess = quotas.withLock({ $0.take(message.target, isCollapsible: message.isCollapsible, now: now) }) {
            throw GoogleError(excess, message.target.subject)
        }
        let name = MessageName.new(project: project, now: now)
        let recipients = try await store.accept(
            .init(
                name: name, target: message.target, received: now, expires: now + message.timeToLive * 1_000, body: body))
        guard let recipients else {
            quotas.withLock { $0.putBack(message.target, isCollapsible: message.isCollapsible) }
            throw GoogleError.fcm(.unregistered, "Requested entity was not found.")
        }
        streams.wake(recipients)
        return Response(.ok, ["name": .string(name)])
    }
}

extension SendRequest.Target {
    /// What faults and quotas know it by.
    fileprivate var subject: FaultRule.Subject {
        switch self {
        case .topic(let name): .init(topic: name, target: nil)
        case .token(let token): .init(topic: nil, target: token)
        case .installation(let id): .init(topic: nil, target: id)
        case .condition(let condition): .init(topic: nil, target: condition.text)
        }
    }
}
