import CommandBus
import HTTPTypes
import ProductVersion
import Schemas
import ServiceKit

/// `GET /health`: whether the gateway and the services behind it can do their work.
struct HealthRoutes: Feature {
    /// The clients of the services to ask.
    let clients: ServiceClients

    var routes: [Route] {
        [Route(.get, "/health", right: .anyone, answer: .ok(Health.self), health)]
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
        /// The versions of the gateway and of the services that report theirs.
        let versions: [String: String]
        /// The states of services' dependencies, by the service's name. Services without a report are missing.
        let parts: [String: [String: PartHealth]]

        init(_ states: [String: PartHealth]) {
            services = states.mapValues(\.status)
            versions = states.compactMapValues(\.version).merging([ServiceEntry.gateway.name: productVersion]) { $1 }
            parts = states.mapValues(\.parts).filter { !$0.value.isEmpty }
            let canWork = services.values.allSatisfy { $0 == .ok }
            status = !canWork ? .unavailable : states.values.allSatisfy(\.isWell) ? .ok : .degraded
        }
    }

    /// 200 if every service can do its work, even while the relay or FCM is unreachable; otherwise 503.
    private func health(_ call: Call<NoBody>) async throws -> Answer<Health> {
        let states = await withTaskGroup(of: (String, PartHealth).self) { group in
            for (service, client) in clients.all {
                group.addTask {
                    do throws(CommandFailure) {
                        return (service.name, PartHealth(try await client.request(CheckHealth(), timeout: .seconds(2))))
                    } catch {
                        return (service.name, PartHealth(error.status))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let health = Health(states)
        let canWork = health.status != .unavailable
        return canWork ? Answer(health) : Answer(health, status: .serviceUnavailable, headers: [.retryAfter: "2"])
    }
}
