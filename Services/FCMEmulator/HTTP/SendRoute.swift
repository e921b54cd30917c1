import Hummingbird
import Schemas

/// `POST /v1/projects/{project}/messages:send`: FCM's HTTP v1 API.
struct SendRoute: Sendable {
    /// Room for a message of FCM's size with every character escaped, for each platform.
    private static let longestBody = 262_144

    let authorization: Authorization
    let project: String
    let topicPayloadLimit: Int
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
        let message = try SendRequest(body: body, topicPayloadLimit: topicPayloadLimit)
        guard !message.validateOnly else { return Response(.ok, ["name": .string(MessageName.fake(project: project))]) }

        let name = MessageName.new(project: project, now: now)
        let recipients = try await store.accept(
            .init(
                name: name, target: message.target, received: now, expires: now + message.timeToLive * 1_000, body: body))
        guard let recipients else { throw GoogleError.fcm(.unregistered, "Requested entity was not found.") }
        streams.wake(recipients)
        return Response(.ok, ["name": .string(name)])
    }
}
