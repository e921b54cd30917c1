import HTTPRouting
import Hummingbird
import Base
import Schemas

/// `/iid`: topic management through the Instance ID service, which the Admin SDKs use. Its errors are `{"error":"…"}`.
struct InstanceIDRoutes: Sendable {
    /// Enough for a thousand tokens.
    private static let maxBodyBytes = 1_048_576

    let authorization: Authorization
    let faults: FaultInjector
    let store: EmulatorStore
    let streams: OpenStreams

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        addBatch("batchAdd", to: router) { batch, tokens in
            let outcomes = try await store.subscribe(tokens, to: batch.topic, now: .now())
            for case .done(let device) in outcomes { streams.subscribe(device, to: [batch.topic]) }
            return outcomes
        }
        addBatch("batchRemove", to: router) { batch, tokens in
            try await store.unsubscribe(tokens, from: batch.topic)
        }
        router.resource(
            "iid/v1/:token/rel/topics/:topic",
            [
                .post: { request, context in
                    let token = try context.pathParameter("token")
                    let topic = try context.pathParameter("topic")
                    return try await answer(request, topic: topic) { try await subscribe(token, to: topic) }
                }
            ])
        router.resource(
            "iid/info/:token",
            [
                .get: { request, context in
                    let token = try context.pathParameter("token")
                    let isDetailed = request.queryParameters["details"] == "true"
                    return try await answer(request, topic: nil) { try await info(token, isDetailed: isDetailed) }
                }
            ])
    }

    private func addBatch(
        _ method: String, to router: some RouterMethods<EmulatorRequestContext>,
        _ change: @escaping @Sendable (TopicBatch, [String]) async throws -> [EmulatorStore.SubscriptionOutcome]
    ) {
        router.resource(
            RouterPath("iid/v1:\(method)"),
            [
                .post: { request, _ in
                    try await guarded(request) {
                        let batch = try TopicBatch(body: try await request.bytes(max: Self.maxBodyBytes))
                        return try await perform(topic: batch.topic) {
                            let outcomes = try await change(batch, batch.tokens.filter(RegistrationToken.isWellFormed))
                            return Response(.ok, ["results": .array(results(of: batch, outcomes))])
                        }
                    }
                }
            ])
    }

    private func subscribe(_ token: String, to topic: String) async throws -> Response {
        guard TopicCondition.isTopicName(topic) else { throw InstanceIDError(.badRequest, "InvalidTopicName") }
        switch try await store.subscribe([token], to: topic, now: .now()).first {
        case .done(let device):
            streams.subscribe(device, to: [topic])
            return Response(.ok, [:])
        case .tooManyTopics: throw InstanceIDError(.badRequest, "TOO_MANY_TOPICS")
        case .notFound, nil: throw InstanceIDError.unknown
        }
    }

    private func info(_ token: String, isDetailed: Bool) async throws -> Response {
        let limit = EmulatorStore.maxTopics
        guard let subscriptions = try await store.subscriptions(of: token, after: "", limit: limit) else {
            throw InstanceIDError.unknown
        }
        var members: [JSONValue.Member] = [
            .init("application", "org.example.emulator"), .init("authorizedEntity", .string(ServiceAccount.projectNumber)),
            .init("applicationVersion", "1"), .init("platform", .string(RegistrationToken.platform(of: token).rawValue)),
        ]
        if isDetailed, !subscriptions.isEmpty {
            let topics = subscriptions.map { JSONValue.Member($0.topic, ["addDate": .string($0.addDate)]) }
            members.append(.init("rel", ["topics": .object(topics)]))
        }
        return Response(.ok, .object(members))
    }

    private func answer(
        _ request: Request, topic: String?, _ work: () async throws -> Response
    ) async throws -> Response {
        try await guarded(request) { try await perform(topic: topic, work) }
    }

    private func perform(topic: String?, _ work: () async throws -> Response) async throws -> Response {
        try await faults.perform(.topics, .init(topic: topic, target: nil), work) ?? .unanswerable
    }

    /// Performs an authorized request, and answers errors in the service's form.
    private func guarded(_ request: Request, _ work: () async throws -> Response) async throws -> Response {
        do {
            try authorization.checkInstanceID(request)
            return try await work()
        } catch let error as GoogleError {
            return Response(error.httpStatus, ["error": .string(error.message)], headers: error.headers)
        } catch let error as InstanceIDError {
            return Response(error.status, ["error": .string(error.message)])
        }
    }

    /// One result for each token, in order.
    private func results(of batch: TopicBatch, _ outcomes: [EmulatorStore.SubscriptionOutcome]) -> [JSONValue] {
        var outcomes = outcomes[...]
        return batch.tokens.map { token in
            guard RegistrationToken.isWellFormed(token) else { return ["error": "INVALID_ARGUMENT"] }
            return switch outcomes.popFirst() {
            case .done: [:]
            case .notFound, nil: ["error": "NOT_FOUND"]
            case .tooManyTopics: ["error": "TOO_MANY_TOPICS"]
            }
        }
    }
}
