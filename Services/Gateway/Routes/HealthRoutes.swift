import CommandBus
import HTTPTypes
import Hummingbird
import Schemas

/// Whether the gateway and the services behind it can do their work.
struct HealthRoutes {
    /// The services to ask, by name.
    let services: [(name: String, client: CommandClient)]

    func register(in router: Router<GatewayContext>) {
        router.path("/health", [.get: health])
        router.path("/problems", [.get: problems])
        router.path("/problems/:kind", [.get: problem])
    }

    private struct Health: Encodable {
        let status: String
        let services: [String: String]
    }

    /// 200 when every service can do its work, 503 otherwise; each with its state.
    @Sendable private func health(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let states = await withTaskGroup(of: (String, String).self) { group in
            for (name, client) in services {
                group.addTask {
                    do throws(CommandFailure) {
                        _ = try await client.request(CheckHealth(), timeout: .seconds(2))
                        return (name, ReplyStatus.ok.rawValue)
                    } catch {
                        return (name, error.status.rawValue)
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let isHealthy = states.values.allSatisfy { $0 == ReplyStatus.ok.rawValue }
        return try .json(
            Health(status: isHealthy ? "ok" : "unavailable", services: states),
            status: isHealthy ? .ok : .serviceUnavailable, headers: isHealthy ? [:] : [.retryAfter: "2"])
    }

    /// An entry of the catalogue of problems.
    private struct ProblemEntry: Encodable {
        let type: String
        let title: String
        let status: Int

        init(_ kind: ProblemKind) {
            type = "/problems/\(kind.rawValue)"
            title = kind.title
            status = kind.status.code
        }
    }

    @Sendable private func problems(_ request: Request, _ context: GatewayContext) async throws -> Response {
        try .json(ProblemKind.allCases.map(ProblemEntry.init))
    }

    @Sendable private func problem(_ request: Request, _ context: GatewayContext) async throws -> Response {
        guard let kind = context.parameters.get("kind").flatMap({ ProblemKind(rawValue: $0) }) else {
            throw Problem(.notFound, "There is no such kind of problem; /problems lists them.")
        }
        return try .json(ProblemEntry(kind))
    }
}
