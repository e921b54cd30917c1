import HTTPRouting
import Hummingbird
import JSON

/// `/emulator/counts`: with these counts a test proves that no component was lost and none was accepted twice, at any volume.
struct CountRoutes: Sendable {
    /// How many doubled components the list shows.
    private static let maxDoubled = 1_000

    let store: EmulatorStore
    let answers: AnswerCounts
    let platforms: Adjustable<PlatformRules>

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        router.resource(
            "emulator/counts",
            [
                .get: { request, _ in
                    guard let key = request.queryParameters["msi_key"] else { return try await summary() }
                    return try await message(key)
                },
                .delete: { _, _ in
                    try await store.clearCounts()
                    answers.clear()
                    platforms.withLock { $0.clearCounts() }
                    return Response(status: .noContent)
                },
            ])
        router.resource("emulator/counts/doubled", [.get: { _, _ in try await doubled() }])
    }

    private func summary() async throws -> Response {
        let counts = try await store.sendCounts()
        let (demoted, throttled) = platforms.withLock { ($0.demoted, $0.throttled) }
        return Response(
            .ok,
            [
                "accepted": .integer(counts.accepted), "distinct": .integer(counts.distinct),
                "doubled": .integer(counts.doubled), "unkeyed": .integer(counts.unkeyed),
                "demoted": .integer(demoted), "throttled": .integer(throttled), "answers": answers.document,
            ])
    }

    private func message(_ msiKey: String) async throws -> Response {
        let counted = try await store.counted(msiKey: msiKey)
        let components = SentComponent.Component.allCases.map { component in
            JSONValue.Member(
                component.rawValue, .integer(counted.first { $0.component.component == component }?.sends ?? 0))
        }
        return Response(.ok, .object(components))
    }

    private func doubled() async throws -> Response {
        let list = try await store.doubled(limit: Self.maxDoubled).map { counted -> JSONValue in
            [
                "msi_key": .string(counted.component.msiKey), "component": .string(counted.component.component.rawValue),
                "sends": .integer(counted.sends),
            ]
        }
        return Response(.ok, .array(list))
    }
}
