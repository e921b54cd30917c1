import Hummingbird
import JSON

/// `/emulator/<section>`: how the emulator treats its clients. GET reads it, PUT changes it, DELETE restores
/// the initial settings.
struct ControlRoutes: Sendable {
    private static let maxBodyBytes = 1_048_576

    let behaviour: Behaviour

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        add("faults", behaviour.faults, to: router)
        add("quotas", behaviour.quotas, to: router)
        add("connections", behaviour.connections, to: router)
        add("oauth", behaviour.oauth, to: router)
        add("archive", behaviour.archive, to: router)
        add("platforms", behaviour.platforms, to: router)
    }

    private func add<Section>(
        _ name: String, _ section: Adjustable<Section>, to router: some RouterMethods<EmulatorRequestContext>
    ) {
        router.resource(
            "emulator/\(name)",
            [
                .get: { _, _ in Response(.ok, section.document) },
                .put: { request, _ in
                    try section.replace(by: try JSONValue(requestBody: try await request.bytes(max: Self.maxBodyBytes)))
                    return Response(.ok, section.document)
                },
                .delete: { _, _ in
                    section.reset()
                    return Response(.ok, section.document)
                },
            ])
    }
}
