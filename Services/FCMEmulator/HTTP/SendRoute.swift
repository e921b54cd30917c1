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
    let desk: SendDesk

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource(
            "v1/projects/:project/messages:send",
            [
                .post: { request, context in
                    let project = try context.pathParameter("project")
                    return try await desk.counted { try await send(request, project: project) }
                }
            ])
    }

    private func send(_ request: Request, project: String) async throws -> Response? {
        try authorization.check(request)
        let now = UnixMilliseconds.now()
        let body = try await request.bytes(most: Self.longestBody)
        guard project == self.project else { throw GoogleError.permissionDenied(project: project) }
        return try await desk.withinProjectQuota(now: now) { isAccepted in
            let message = try SendRequest(body: body, topicPayloadLimit: topicPayloadLimit)
            return try await faults.perform(.send, message.target.subject) {
                let name = message.validateOnly ? MessageName.fake(project: project) : MessageName.new(project: project, now: now)
                if !message.validateOnly { try await desk.accept(message, name: name, body: body, now: now) }
                isAccepted = true
                return Response(.ok, ["name": .string(name)])
            }
        }
    }
}
