import CommandBus
import HTTPTypes
import Hummingbird
import Schemas

/// `GET /health` and `GET /problems`.
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
            /// Messages are accepted and stored, but a dependency of their delivery is unreachable.
            case degraded
            case unavailable
        }

        let status: Status
        let services: [String: ReplyStatus]
        /// The states of services' dependencies, by the service's name. Services without a report are missing.
        let parts: [String: [String: PartHealth]]

        init(_ states: [String: PartHealth]) {
            services = states.mapValues(\.status)
            parts = states.mapValues(\.parts).filter { !$0.value.isEmpty }
            let canWork = services.values.allSatisfy { $0 == .ok }
            status = !canWork ? .unavailable : states.values.allSatisfy(\.isWell) ? .ok : .degraded
        }
    }

    /// 200 if every service can do its work, even while the relay or FCM is unreachable; otherwise 503.
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
