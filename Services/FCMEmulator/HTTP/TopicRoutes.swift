import Hummingbird

/// `POST /iid/v1:batchAdd` and `:batchRemove`: topic management through the Instance ID service, as the Admin SDKs do it.
struct TopicRoutes: Sendable {
    /// A thousand tokens and room to spare.
    private static let longestBody = 1_048_576

    let authorization: Authorization
    let faults: FaultInjector
    let store: EmulatorStore
    let streams: OpenStreams

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource(
            "iid/v1:batchAdd",
            [
                .post: { request, _ in
                    try await answer(request) { batch, tokens in
                        let outcomes = try await store.subscribe(tokens, to: batch.topic)
                        for case .done(let device) in outcomes { streams.subscribe(device, to: [batch.topic]) }
                        return outcomes
                    }
                }
            ])
        router.resource(
            "iid/v1:batchRemove",
            [
                .post: { request, _ in
                    try await answer(request) { batch, tokens in try await store.unsubscribe(tokens, from: batch.topic) }
                }
            ])
    }

    private func answer(
        _ request: Request,
        change: (TopicBatch, [String]) async throws -> [EmulatorStore.SubscriptionOutcome]
    ) async throws -> Response {
        do {
            try authorization.check(request)
        } catch let error as GoogleError {
            return Response(error.httpStatus, ["error": .string(error.message)], headers: error.headers)
        }
        let body = try await request.bytes(most: Self.longestBody)
        do {
            let batch = try TopicBatch(body: body)
            let response = try await faults.perform(.topics, .init(topic: batch.topic, target: nil)) {
                let outcomes = try await change(batch, batch.tokens.filter(RegistrationToken.isWellFormed))
                return Response(.ok, ["results": .array(results(of: batch, outcomes))])
            }
            return response ?? .unheard
        } catch let error as TopicBatchError {
            return Response(.badRequest, error.document)
        }
    }

    /// One result a token, in order.
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
