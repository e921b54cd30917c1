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
        enum Status: String, Encodable {
            case ok
            /// Messages are taken and kept; something that they need further on is away.
            case degraded
            case unavailable
        }

        let status: Status
        let services: [String: ReplyStatus]
        /// What a service depends on, by the service's name; only services that have something to say.
        let parts: [String: [String: PartHealth]]

        init(_ states: [String: PartHealth]) {
            services = states.mapValues(\.status)
            parts = states.mapValues(\.parts).filter { !$0.value.isEmpty }
            let canWork = services.values.allSatisfy { $0 == .ok }
            status = !canWork ? .unavailable : states.values.allSatisfy(\.isWell) ? .ok : .degraded
        }
    }

    /// 200 when every service can do its work, also while what it depends on further on is away; 503 otherwise.
    @Sendable private func health(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let states = await withTaskGroup(of: (String, PartHealth).self) { group in
            for (name, client) in services {
                group.addTask {
                    do throws(CommandFailure) {
                        return (name, PartHealth(.ok, parts: try await client.request(CheckHealth(), timeout: .seconds(2)).parts))
                    } catch {
                        return (name, PartHealth(error.status))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let health = Health(states)
        let canWork = health.status != .unavailable
        return try .json(
            health, status: canWork ? .ok : .serviceUnavailable, headers: canWork ? [:] : [.retryAfter: "2"])
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
