import Bus
import HTTPTypes
import Base
import Schemas
import ServiceKit
import Synchronization

/// `GET /health`: whether the gateway and the services behind it can do their work.
struct HealthRoutes: Feature {
    let check: HealthCheck

    var section: APISection { APISection("Health", "For monitoring, and for a portal's health display.") }

    var routes: [Route] {
        [
            Route(.get, "/health", right: .anyone, answer: .ok(Health.self), health)
                .documented(
                    "Ask whether everything works",
                    "The status is 200 while messages are accepted and stored, even if their delivery has to wait, and 503 otherwise. While the "
                        + "people or the cube service is away, `copies` says until when the gateway works with its copies of their data.",
                    also: [AnswerForm(.serviceUnavailable, Health.self)], callsServices: false)
        ]
    }

    /// 200 if every service can do its work, even while the relay or FCM is unreachable; otherwise 503.
    private func health(_ call: OpenCall<NoBody>) async throws -> Answer<Health> {
        let health = await check.read()
        let canWork = health.status != .unavailable
        return canWork ? Answer(health) : Answer(health, status: .serviceUnavailable, headers: [.retryAfter: "2"])
    }
}

/// Asks the services behind the gateway whether they can do their work.
final class HealthCheck: Sendable {
    /// The clients of the services to ask.
    private let clients: ServiceClients
    /// The gateway's own parts, such as its certificate, by name.
    private let parts: [String: @Sendable () -> PartHealth]

    /// Until when the gateway may use its copies of a service's data while that service is away; `nil` if it has none.
    private let copies: [ServiceEntry: @Sendable () -> ContinuousClock.Instant?]

    private let latest = Mutex<Task<Health, Never>?>(nil)

    private static let timeout = Duration.seconds(2)
    /// How long a result is reused for further callers.
    private static let sharingPeriod = Duration.milliseconds(500)

    init(
        clients: ServiceClients, parts: [String: @Sendable () -> PartHealth],
        copies: [ServiceEntry: @Sendable () -> ContinuousClock.Instant?]
    ) {
        self.clients = clients
        self.parts = parts
        self.copies = copies
    }

    /// The health, at most a moment old: each service is asked at most twice a second, however many callers there are.
    func read() async -> Health {
        let task = latest.withLock { latest in
            if let latest { return latest }
            let task = Task { await self.readAlone() }
            latest = task
            Task {
                _ = await task.value
                try? await Task.sleep(for: Self.sharingPeriod)
                self.latest.withLock { $0 = nil }
            }
            return task
        }
        return await task.value
    }

    private func readAlone() async -> Health {
        let states = await withTaskGroup(of: (String, PartHealth).self) { group in
            for (service, client) in clients.asked {
                group.addTask {
                    do throws(CommandFailure) {
                        return (service.name, PartHealth(try await client.request(CheckHealth(), timeout: Self.timeout)))
                    } catch {
                        return (service.name, PartHealth(error.status))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let own = PartHealth(.ok, version: productVersion, parts: parts.mapValues { $0() })
        let optional = Set(clients.asked.filter { $0.service.gatewayNeed.isForPart }.map(\.service.name))
        return Health(states, own: own, copies: copiesInUse(states), optional: optional)
    }

    /// The ends of the grace periods of the services that are away, in whole seconds.
    private func copiesInUse(_ states: [String: PartHealth]) -> [String: UnixMilliseconds] {
        let away = copies.filter { states[$0.key.name]?.status != .ok }
        return away.reduce(into: [:]) { ends, copy in
            guard let end = copy.value() else { return }
            let moment = UnixMilliseconds.now + Milliseconds(end - .now)
            ends[copy.key.name] = UnixMilliseconds(rawValue: moment.seconds * 1_000)
        }
    }
}

/// Whether the gateway and the services behind it can do their work.
struct Health: Codable, Hashable, Sendable {
    enum Status: String, ClosedEnum {
        case ok
        /// Messages are accepted and stored, but a dependency of their delivery is unreachable.
        case degraded
        case unavailable
    }

    let status: Status
    let services: [String: ReplyStatus]
    /// The versions of the gateway and of the services that report theirs.
    let versions: [String: String]
    /// The states of services' dependencies, by the service's name; `version` is about a version that is not the gateway's. Services
    /// without a report are missing.
    let parts: [String: [String: PartHealth]]

    /// Until when the gateway works with its copies of the data of services that are away, by the service's name.
    let copies: [String: UnixMilliseconds]

    /// Whether the services are in the same states. Of ``copies`` only the keys are compared: the times change continually.
    func hasSameStates(as other: Health) -> Bool {
        status == other.status && services == other.services && versions == other.versions && parts == other.parts
            && Set(copies.keys) == Set(other.copies.keys)
    }

    /// - Parameter optional: The services that are not needed to accept messages.
    init(
        _ services: [String: PartHealth], own: PartHealth, copies: [String: UnixMilliseconds], optional: Set<String> = []
    ) {
        self.copies = copies
        let states = services.merging([ServiceEntry.gateway.name: own]) { $1 }
        self.services = services.mapValues(\.status)
        versions = states.compactMapValues(\.version)
        let parts = states.mapValues { state in
            guard let version = state.version, let report = PartHealth.version(version, besideGateway: own.version ?? version)
            else {
                return state.parts
            }
            return state.parts.merging(["version": report]) { $1 }
        }
        self.parts = parts.filter { !$0.value.isEmpty }
        let canWork = services.allSatisfy { $0.value.status == .ok || copies[$0.key] != nil || optional.contains($0.key) }
        let isWell = states.values.allSatisfy(\.isWell) && parts.values.allSatisfy { $0.values.allSatisfy(\.isWell) }
        status = !canWork ? .unavailable : isWell ? .ok : .degraded
    }
}

extension PartHealth {
    /// The report on a service of another version than the gateway's: it accepts the gateway's commands only if it is not older.
    ///
    /// - Returns: `nil` if the versions are equal.
    static func version(_ version: String, besideGateway own: String) -> PartHealth? {
        guard version != own else { return nil }
        guard ProductVersionNumber(version) < ProductVersionNumber(own) else {
            return PartHealth(.ok, "it is newer than the gateway (\(own)): upgrade the gateway as well", version: version)
        }
        return PartHealth(
            .conflict,
            "it is older than the gateway (\(own)) and may refuse its commands: upgrade this service; the order is services before gateways",
            version: version)
    }
}

/// A version such as `1.0.0`, ordered by its numbers.
struct ProductVersionNumber: Comparable {
    private let numbers: [Int]

    /// A part that is not a number counts as 0.
    init(_ text: String) {
        numbers = text.split(separator: ".").map { Int($0.prefix(while: \.isNumber)) ?? 0 }
    }

    static func < (one: ProductVersionNumber, other: ProductVersionNumber) -> Bool {
        one.numbers.lexicographicallyPrecedes(other.numbers)
    }
}
