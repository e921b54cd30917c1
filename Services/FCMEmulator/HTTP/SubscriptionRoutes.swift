import Hummingbird
import Base
import Schemas

/// `/v1/projects/{project}/registrations/{registration}/topicSubscriptions`: the topic-subscription API, one phone at a time.
struct SubscriptionRoutes: Sendable {
    private static let maxBodyBytes = 16_384
    private static let defaultPageSize = 1_000
    private static let maxPageSize = 2_000

    let authorization: Authorization
    let project: ProjectPath
    let faults: FaultInjector
    let store: EmulatorStore
    let streams: OpenStreams

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        let all = "v1/projects/:project/registrations/:registration/topicSubscriptions"
        router.resource(
            RouterPath(all),
            [
                .get: { request, context in try await answer(request, context, topic: nil, list) },
                .post: { request, context in
                    let topic = request.query("topicName", or: "topic_name") ?? ""
                    return try await answer(request, context, topic: topic, create)
                },
            ])
        func one(
            _ work: @escaping @Sendable (Call) async throws -> Response
        ) -> @Sendable (Request, EmulatorRequestContext) async throws -> Response {
            { request, context in
                try await answer(request, context, topic: try context.pathParameter("topic"), work)
            }
        }
        router.resource(RouterPath("\(all)/:topic"), [.get: one(get), .patch: one(upsert), .delete: one(delete)])
    }

    /// A request that is authorized and well formed.
    private struct Call: Sendable {
        let request: Request
        let registration: String
        /// Empty in a call for all subscriptions.
        let topic: String

        /// Whether the call succeeds if the subscription does not exist.
        var allowsMissing: Bool { request.query("allowMissing", or: "allow_missing") == "true" }
    }

    private func answer(
        _ request: Request, _ context: EmulatorRequestContext, topic: String?, _ work: (Call) async throws -> Response
    ) async throws -> Response {
        try authorization.check(request)
        let project = try context.pathParameter("project")
        try self.project.check(project)
        let registration = try context.pathParameter("registration")
        guard RegistrationToken.isWellFormed(registration) || RegistrationToken.isInstallation(registration) else {
            throw GoogleError.refused("The registration token is not a valid FCM registration token", field: "parent")
        }
        if let topic, !TopicCondition.isTopicName(topic) {
            throw GoogleError.refused("Topic name contains invalid characters.", field: "topic_name")
        }
        let body = try await request.bytes(max: Self.maxBodyBytes)
        if !body.isEmpty { _ = try FormReader.read(try JSONValue(requestBody: body), as: .topicSubscription) }
        let call = Call(request: request, registration: registration, topic: topic ?? "")
        let subject = FaultRule.Subject(topic: topic, target: registration)
        // This API's errors have the same form as those of a send.
        let response = try await faults.perform(
            .topics, subject, refuse: { $0.response(to: .send, subject, now: .now()) }
        ) {
            try await work(call)
        }
        return response ?? .unanswerable
    }

    private func create(_ call: Call) async throws -> Response {
        try await create(call, mayExist: false)
    }

    private func upsert(_ call: Call) async throws -> Response {
        call.allowsMissing ? try await create(call, mayExist: true) : try await get(call)
    }

    private func create(_ call: Call, mayExist: Bool) async throws -> Response {
        switch try await store.createSubscription(of: call.registration, to: call.topic, now: .now()) {
        case .created(let subscription, let device):
            streams.subscribe(device, to: [call.topic])
            return show(subscription, call)
        case .existed(let subscription):
            guard mayExist else {
                throw GoogleError(
                    httpStatus: .conflict, status: "ALREADY_EXISTS", message: "Requested entity already exists")
            }
            return show(subscription, call)
        case .notRegistered:
            throw Self.notRegistered
        case .tooManyTopics:
            throw GoogleError(
                httpStatus: .tooManyRequests, status: "RESOURCE_EXHAUSTED",
                message: "The registration is subscribed to \(EmulatorStore.maxTopics) topics, the most there can be.")
        }
    }

    private func get(_ call: Call) async throws -> Response {
        switch try await store.subscription(of: call.registration, to: call.topic) {
        case .found(let subscription): show(subscription, call)
        case .notSubscribed: throw GoogleError.notFound("Requested entity was not found.")
        case .notRegistered: throw Self.notRegistered
        }
    }

    private func delete(_ call: Call) async throws -> Response {
        switch try await store.endSubscription(of: call.registration, to: call.topic) {
        case .found: return Response(.ok, [:])
        case .notSubscribed:
            guard call.allowsMissing else { throw GoogleError.notFound("Requested entity was not found.") }
            return Response(.ok, [:])
        case .notRegistered: throw Self.notRegistered
        }
    }

    private func list(_ call: Call) async throws -> Response {
        let size = call.request.query("pageSize", or: "page_size").map { Int($0) ?? -1 } ?? 0
        guard size >= 0 else { throw GoogleError.invalidArgument("Invalid page size: expected a number of 0 or more") }
        let limit = size == 0 ? Self.defaultPageSize : min(size, Self.maxPageSize)
        let start = try PageToken.topic(of: call.request.query("pageToken", or: "page_token"))
        // One more than the page shows, to know whether there is a next page.
        guard let found = try await store.subscriptions(of: call.registration, after: start, limit: limit + 1) else {
            throw Self.notRegistered
        }
        let page = found.prefix(limit).map { $0.document(project: project.id, registration: call.registration) }
        var members = [JSONValue.Member("topicSubscriptions", .array(page))]
        if found.count > limit { members.append(.init("nextPageToken", .string(PageToken.after(found[limit - 1].topic)))) }
        return Response(.ok, .object(members))
    }

    private func show(_ subscription: EmulatorStore.Subscription, _ call: Call) -> Response {
        Response(.ok, subscription.document(project: project.id, registration: call.registration))
    }

    private static let notRegistered = GoogleError.unregistered
}
