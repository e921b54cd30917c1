import CommandBus
import Logging
import Schemas
import ServiceKit

/// Whether each service answers on the bus, and what it says about itself.
struct BusCheck: Sendable {
    /// What the check has learned about the services.
    struct Result: Sendable {
        var isAnythingRunning = false
        /// By the services' names and endpoints: each instance may be of another version.
        var versions: [String: String] = [:]
        /// The endpoints of the relays that answer.
        var relays: [String] = []
    }

    let installation: Installation
    let settings: SettingValues

    private static let timeout = Duration.seconds(5)

    /// The state of one instance of a service.
    private struct Instance: Sendable {
        let service: ServiceEntry
        let endpoint: String
        let state: BusSocketState
    }

    /// - Throws: ``ConfigurationError``, or ``BusError`` if there is no bus.
    func run(_ report: @Sendable (Finding) -> Void) async throws -> Result {
        let instances = try installation.services.filter { $0.sockets.contains(.commands) }.flatMap { service in
            try ClientEndpoints(settings.value(.endpoints(of: service))).current.map {
                Instance(service: service, endpoint: $0, state: BusSocketState(of: $0))
            }
        }
        var result = Result()
        guard instances.contains(where: { $0.state == .listening }) else {
            absent(instances).forEach(report)
            return result
        }
        var logger = Logger(label: "msi")
        // The findings say it.
        logger.logLevel = .critical
        let bus = try Bus(settings, logger: logger)
        for instance in instances {
            guard instance.state == .listening else {
                report(finding(of: instance))
                continue
            }
            do throws(CommandFailure) {
                let client: CommandClient
                do {
                    client = try CommandClient(bus: bus, endpoints: [instance.endpoint], logger: logger)
                } catch {
                    throw CommandFailure(.unavailable, "\(error)")
                }
                let health = try await client.request(CheckHealth(), timeout: Self.timeout)
                result.isAnythingRunning = true
                result.versions["\(instance.service.name) at \(instance.endpoint)"] = health.version
                if instance.service == .fcmRelay { result.relays.append(instance.endpoint) }
                findings(of: health, instance).forEach(report)
            } catch {
                result.isAnythingRunning = true
                report(
                    .failure(
                        .sockets, "\(instance.service.executable) at \(instance.endpoint) does not work: \(error.message)",
                        advice(for: error.status, instance.service)))
            }
        }
        await bus.close()
        return result
    }

    private func findings(of health: ServiceHealth, _ instance: Instance) -> [Finding] {
        let name = instance.service.executable
        let troubles = health.parts.filter { !$0.value.isWell }.sorted { $0.key < $1.key }
        guard !troubles.isEmpty else { return [.ok(.sockets, "\(name) answers at \(instance.endpoint)")] }
        return troubles.map { part, state in
            let inner = state.parts.filter { !$0.value.isWell }.sorted { $0.key < $1.key }
                .map { "\($0.key): \($0.value.message ?? $0.value.status.rawValue)" }
            let message = ([state.message].compactMap(\.self) + inner).joined(separator: "; ")
            return .warning(
                .sockets,
                "\(name) answers, but its part \(part) does not work: \(message.isEmpty ? state.status.rawValue : message)",
                "see the findings about \(part), and \(log(of: instance.service))")
        }
    }

    /// While no service listens, one finding says so for all, and others for what is in the way.
    private func absent(_ instances: [Instance]) -> [Finding] {
        let inTheWay = instances.filter { $0.state != .missing }.map(finding)
        return inTheWay.isEmpty ? [.warning(.sockets, "not running: no service is there", installation.start(nil))] : inTheWay
    }

    private func finding(of instance: Instance) -> Finding {
        let name = instance.service.executable
        switch instance.state {
        case .listening: return .ok(.sockets, "\(name) listens at \(instance.endpoint)")
        case .missing:
            return .failure(.sockets, "\(name) is not running: there is nothing at \(instance.endpoint)", start(instance.service))
        case .stale:
            let other =
                instance.service.mayHaveInstances
                ? ". If this instance is not to come back: rm \(instance.endpoint.dropFirst(6))" : ""
            return .failure(
                .sockets, "\(name) is not running: \(instance.endpoint) was left behind by a process that was killed",
                start(instance.service) + other)
        case .forbidden(let path):
            return .failure(
                .sockets, "\(name) cannot be reached: this user may not use \(path)",
                "run msi doctor as the user of the services or as root")
        }
    }

    private func start(_ service: ServiceEntry) -> String {
        "\(installation.start(service)); its last words are in \(log(of: service))"
    }

    private func log(of service: ServiceEntry) -> String {
        installation.log(of: service, stateDirectory: (try? settings.value(.stateDirectory)) ?? "")
    }

    private func advice(for status: ReplyStatus, _ service: ServiceEntry) -> String {
        switch status {
        case .deadlineExceeded:
            "it hangs, or the machine is overloaded: look at its load and at \(log(of: service)), and restart it"
        case .storageFull: "free some space on the disk of its database"
        case .overloaded: "it has more to do than it can; look at the machine's load"
        default: "\(log(of: service)) says more; restart it if it hangs"
        }
    }
}
