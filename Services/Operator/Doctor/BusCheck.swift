import Bus
import Logging
import Schemas
import ServiceKit

/// Whether each service answers on the bus, and what it says about itself.
struct BusCheck: Sendable {
    /// What the check has learned about the services.
    struct Result: Sendable {
        var findings: [Finding] = []
        var isAnythingRunning = false
        /// The versions by the services' names and endpoints: instances may differ.
        var versions: [String: String] = [:]
        /// The endpoints of the relays that answer.
        var relays: [String] = []
        /// The endpoints of the Web Push services that answer.
        var webPushServices: [String] = []
        /// Those of the people services.
        var people: [String] = []
        /// Those of the study services.
        var study: [String] = []
        /// What the services of this machine say about themselves, by their processes.
        var reports: [Int32: ServiceReport] = [:]
    }

    let installation: Installation
    let settings: SettingValues
    let processes: [RunningProcess]
    let supervisor: RunningSupervisor?

    private static let timeout = Duration.seconds(5)

    /// What an instance has answered.
    private enum Answer: Sendable {
        case health(ServiceHealth)
        case failure(CommandFailure)
        /// Nothing was asked, since nothing listens.
        case none
        /// Nothing was asked, since a signal has stopped the process.
        case stopped(RunningProcess)
    }

    /// - Throws: ``ConfigurationError``, or ``BusError`` if there is no bus.
    func result() async throws -> Result {
        let instances = try await self.instances()
        var result = Result()
        guard instances.contains(where: \.state.isListening) else {
            result.findings = await absent(instances)
            return result
        }
        let logger = Self.quiet
        let bus = try Bus(settings, logger: logger)
        // Concurrently: each one that does not answer takes seconds.
        let answers = await withTaskGroup(of: (Int, Answer).self) { group in
            for (index, instance) in instances.enumerated() {
                group.addTask {
                    if let process = await advice(for: instance).stoppedProcess() { return (index, .stopped(process)) }
                    return (index, await Self.ask(instance, bus, logger))
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        await bus.close()
        /// The services that say so, by the sentence.
        var warnings: [String: [String]] = [:]
        for (index, instance) in instances.enumerated() {
            switch answers[index] ?? .none {
            case .none:
                result.findings.append(await finding(of: instance))
            case .health(let health):
                result.isAnythingRunning = true
                result.versions["\(instance.service.name) at \(instance.endpoint)"] = health.version
                if instance.service == .fcmRelay { result.relays.append(instance.endpoint) }
                if instance.service == .webpush { result.webPushServices.append(instance.endpoint) }
                if instance.service == .people { result.people.append(instance.endpoint) }
                if instance.service == .study { result.study.append(instance.endpoint) }
                if let report = health.report {
                    if instance.otherHost == nil { result.reports[report.process] = report }
                    let name = instance.service.executable + (instance.otherHost.map { " on \($0)" } ?? "")
                    for warning in report.warnings where instance.otherHost != nil || !isKnown(warning) {
                        warnings[warning, default: []].append(name)
                    }
                }
                result.findings += Self.findings(of: health, instance, log: advice(for: instance).log)
            case .stopped(let process):
                result.isAnythingRunning = true
                result.findings.append(advice(for: instance).finding(ofStopped: process))
            case .failure(let failure):
                result.isAnythingRunning = true
                result.findings.append(await advice(for: instance).finding(of: failure))
            }
        }
        result.findings += warnings.sorted { $0.key < $1.key }.map {
            .warning(.configuration, "\($1.joined(separator: ", ")): \($0)", "correct it; a name needs a reload of the service")
        }
        return result
    }

    /// Whether another check of this machine says it.
    private func isKnown(_ warning: String) -> Bool {
        settings.warnings.contains(warning) || warning.hasPrefix((try? settings.value(.stateDirectory)) ?? "/")
            || settings.secretFiles.contains { FilePermissions.warning(about: $0.path) == warning }
    }

    /// The findings say what would be logged.
    private static var quiet: Logger {
        var logger = Logger(label: "msi")
        logger.logLevel = .critical
        return logger
    }

    private func instances() async throws -> [BusInstance] {
        var places: [(ServiceEntry, String)] = []
        for service in installation.services where service.sockets.contains(.commands) {
            places += try await endpoints(of: service).map { (service, $0) }
        }
        return await withTaskGroup(of: (Int, BusInstance).self) { group in
            for (index, (service, endpoint)) in places.enumerated() {
                group.addTask { (index, await BusInstance(service, at: endpoint)) }
            }
            let found = await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            return places.indices.compactMap { found[$0] }
        }
    }

    /// The endpoints of its clients. A pattern stands for the existing sockets, and for those that running processes are about to make.
    private func endpoints(of service: ServiceEntry) async throws -> [String] {
        let client = try ClientEndpoints(settings.value(.endpoints(of: service)))
        var found = client.current
        for process in processes where process.service == service {
            guard let own = await process.commandEndpoint(), client.include(own), !found.contains(own) else { continue }
            found.removeAll { $0.contains("*") && ((try? ClientEndpoints([$0]))?.include(own) ?? false) }
            found.append(own)
        }
        return found
    }

    private static func ask(_ instance: BusInstance, _ bus: Bus, _ logger: Logger) async -> Answer {
        guard instance.state.isListening else { return .none }
        do throws(CommandFailure) {
            let client: CommandClient
            do {
                client = try CommandClient(bus: bus, endpoints: [instance.endpoint], logger: logger)
            } catch {
                throw CommandFailure(.unavailable, "\(error)")
            }
            return .health(try await client.request(CheckHealth(), timeout: timeout))
        } catch {
            return .failure(error)
        }
    }

    /// - Parameter log: Where the service's log is.
    static func findings(of health: ServiceHealth, _ instance: BusInstance, log: String) -> [Finding] {
        let name = instance.service.executable
        let error = health.report?.lastError.map { "; the last error in its log, at \($0.time.inUTC): \($0.message)" } ?? ""
        let troubles = health.parts.filter { !$0.value.isWell }.sorted { $0.key < $1.key }
        guard !troubles.isEmpty else { return [.ok(.sockets, "\(name) answers at \(instance.endpoint)\(error)")] }
        return troubles.map { part, state in
            let inner = state.parts.filter { !$0.value.isWell }.sorted { $0.key < $1.key }
                .map { "\($0.key): \($0.value.message ?? $0.value.status.rawValue)" }
            let message = ([state.message].compactMap(\.self) + inner).joined(separator: "; ")
            let found =
                "\(name) answers, but its part \(part) does not work: \(message.isEmpty ? state.status.rawValue : message)\(error)"
            let advice = advice(for: state, part, log: log)
            // Without its store the service can do nothing.
            return part == ServiceHealth.store ? .failure(.sockets, found, advice) : .warning(.sockets, found, advice)
        }
    }

    private static func advice(for state: PartHealth, _ part: String, log: String) -> String {
        guard state.status != .storageFull else {
            return "free some space, set \(Setting.messageRetention.declaration.name), raise "
                + "\(Setting.messageLogStorageLimit.declaration.name), or use a larger disk"
        }
        return switch part {
        case ServiceHealth.store: "is its disk or its database slow or read-only? \(log) says more"
        case "audit": "see the findings about msi-people, and \(log)"
        case "contact": "set \(Setting.webPushContact.declaration.name) for this service as well, and restart it"
        case "outbox": "see the findings about msi-message-log, and \(log)"
        case "push_services": "see the findings about Web Push, and \(log)"
        default: "see the findings about \(part), and \(log)"
        }
    }

    /// While no service listens, one finding says so for all, and others name the obstacles.
    private func absent(_ instances: [BusInstance]) async -> [Finding] {
        var inTheWay: [Finding] = []
        for instance in instances where instance.otherHost == nil && !isRunning(instance.service) {
            let ended = await EndedService.look(
                instance.service, at: instance.endpoint, of: installation, settings, supervisor: supervisor)
            if let ended { inTheWay.append(.failure(.sockets, "\(instance.service.executable) \(ended.found)", ended.advice)) }
        }
        // The others were stopped because of it, or could not start.
        guard inTheWay.isEmpty else { return inTheWay }
        for instance in instances where instance.state != .missing || isRunning(instance.service) {
            inTheWay.append(await finding(of: instance))
        }
        return inTheWay.isEmpty ? [.warning(.sockets, "not running: no service is there", installation.start(nil))] : inTheWay
    }

    private func isRunning(_ service: ServiceEntry) -> Bool { processes.contains { $0.service == service } }

    private func finding(of instance: BusInstance) async -> Finding {
        await advice(for: instance).findingWithoutListener()
    }

    private func advice(for instance: BusInstance) -> BusAdvice {
        BusAdvice(
            instance: instance, installation: installation, settings: settings, processes: processes, supervisor: supervisor)
    }
}
