import AsyncHTTPClient
import Bus
import FoundationEssentials
import Base
import ServiceKit
import TestSupport

/// The product with two message logs, two relays and, with MongoDB, two Web Push services, as separate processes. All except FCM and the
/// database server are on one machine.
struct Deployment: Sendable {
    /// In the order of their start.
    let parts: [RunningPart]
    let machine: Machine
    private let folder: String
    private let gatewayPort: Int
    private let emulatorPort: Int
    private let identityPort: Int

    /// - Parameters:
    ///   - folder: An existing, empty folder for everything that is not on the machine's disk.
    ///   - paths: Each relay's connection to FCM.
    ///   - resolver: The library of ``FCMPath/resolver``.
    ///   - pushServices: The origins of the push services of browsers.
    ///   - other: Another version, with which some processes start.
    ///   - seed: Decides which.
    init(
        in folder: String, store: Store, emulatorPort: Int, machine: Machine, paths: [Part: FCMPath], resolver: String,
        pushServices: [String], other: OtherVersion?, seed: UInt64, journal: Journal
    ) throws {
        self.folder = folder
        self.machine = machine
        self.emulatorPort = emulatorPort
        gatewayPort = try FreePort.choose()
        identityPort = try FreePort.choose()
        try FileManager.default.createDirectory(atPath: folder + "/log", withIntermediateDirectories: false)
        let databasePort = try FreePort.choose()
        let emulator = EmulatorAccess(port: emulatorPort, stateDirectory: folder)
        var shared = emulator.settings.merging(Self.endpoints(in: folder)) { $1 }
        shared[Setting.gatewayPort.declaration.name] = String(gatewayPort)
        shared[Setting.fcmEmulatorPort.declaration.name] = String(emulatorPort)
        shared[Setting.identityEmulatorPort.declaration.name] = String(identityPort)
        shared.merge(IdentityEmulatorAccess(port: identityPort).settings) { $1 }
        shared[Setting<String>.registration.declaration.name] = "anyone"
        // Hosts who have left their sessions would be back within the default time.
        shared[Setting.studyGrace.declaration.name] = "10"
        shared[Setting.runtimeDirectory.declaration.name] = folder + "/run"
        shared[Setting.webPushContact.declaration.name] = "mailto:chaos@example.edu"
        if !pushServices.isEmpty {
            shared[Setting.webPushHosts.declaration.name] = pushServices.joined(separator: ",")
        }
        if store == .mongodb {
            // That server's retryable writes are slow.
            shared[Setting.databaseURL.declaration.name] = "mongodb://127.0.0.1:\(databasePort)/campus?retryWrites=false"
        }
        parts = store.processes.map { [shared] part in
            var settings = shared.merging(Self.settings(of: part, in: folder)) { $1 }
            if part != .emulator, part != .identityEmulator {
                let isRelay = Part.relays.contains(part)
                settings.merge(machine.variables(libraries: isRelay ? [resolver] : [])) { $1 }
                settings[Setting.stateDirectory.declaration.name] = machine.stateFolder
                if other != nil { settings.merge(Self.defaults) { given, _ in given } }
            }
            settings.merge(paths[part]?.settings ?? [:]) { $1 }
            return RunningPart(
                part, in: folder, port: part == .database ? databasePort : nil, settings: settings,
                sockets: (part.service?.sockets ?? []).compactMap { part.socketFile($0) }.map { "\(folder)/run/\($0)" },
                path: paths[part],
                other: other, first: other?.first(of: part, seed: seed) ?? .this, journal: journal)
        }
    }

    /// The processes that join later.
    var late: [RunningPart] { parts.filter { Part.late.contains($0.part) } }

    /// Starts all processes but those that join later.
    func start() async throws {
        for part in parts where !Part.late.contains(part.part) {
            try await part.start()
            if part.part.service == .people {
                try await TestOperator.setUp(
                    in: machine.stateFolder, endpoint: Self.endpoint(of: part.part, .commands, in: folder))
            }
        }
    }

    /// Starts the processes that join those that are running.
    func startLate() async throws {
        for part in late { try await part.start() }
    }

    /// What `msi audit verify` prints if it does not accept the audit log.
    func auditRefusal() async throws -> String? {
        let verification = try await ChildProcess(
            URL(filePath: try BuiltProduct.path(of: "msi")), ["audit", "verify"],
            environment: [
                Setting.stateDirectory.declaration.name: machine.stateFolder,
                Setting.runtimeDirectory.declaration.name: folder + "/run", "SWIFT_BACKTRACE": "enable=no",
            ], logFile: folder + "/log/audit-verify.log")
        return await verification.end() == 0 ? nil : verification.log
    }

    /// How often the processes were changed to the other version and back; `nil` if there were no changes.
    var versionChanges: String? {
        let changes = parts.compactMap { part in
            let counts = part.versionChanges
            return counts.isEmpty ? nil : "\(part.part.name) \(counts[.other] ?? 0) and \(counts[.this] ?? 0) times"
        }
        return changes.isEmpty ? nil : "changed to the other version and back to this one: " + changes.joined(separator: ", ")
    }

    /// Stops the running processes in reverse order of their start.
    func stop() async {
        for part in parts.reversed() { await part.stop() }
    }

    /// Kills every process in any state.
    func end() async {
        for part in parts { await part.end() }
    }

    /// Calls a function with clients for the message logs, together and one by one, and for the services of people and of the cube, as other
    /// programs have them.
    func withServices<Value>(_ body: (ServiceClients) async throws -> Value) async throws -> Value {
        try await withBus { bus in
            func client(_ endpoints: String...) throws -> CommandClient {
                try CommandClient(bus: bus, endpoints: endpoints, logger: quietLogger)
            }
            let each = try Part.messageLogs.map { ($0, try client(Self.endpoint(of: $0, .commands, in: folder))) }
            return try await body(
                ServiceClients(
                    messageLogs: try client(Self.pattern(of: .messageLog, .commands, in: folder)),
                    eachMessageLog: Dictionary(uniqueKeysWithValues: each),
                    people: try client(Self.endpoint(of: .people, in: folder)),
                    cube: try client(Self.endpoint(of: .cube, in: folder))))
        }
    }

    /// Calls a function with clients for the gateway and FCM.
    func withClients<Value>(_ body: (Portal, FCMServer) async throws -> Value) async throws -> Value {
        let emulator = EmulatorAccess(port: emulatorPort, stateDirectory: folder)
        return try await withHTTPClient(trusting: emulator.certificateFile) { http in
            try await body(
                Portal(port: gatewayPort, http: http, token: try TestOperator.token(in: machine.stateFolder)),
                FCMServer(port: emulatorPort, folder: emulator.folder, http: http))
        }
    }

    /// Starts each process again as this version that runs as the other one.
    func upgrade() async throws {
        for part in parts where part.version == .other {
            let began = Int64.nowInMilliseconds
            await part.stop()
            try await part.start(changingVersion: true)
            // It may delay what is due.
            part.note(InjectedFault(part: part.part, action: .restart, began: began, ended: .nowInMilliseconds))
        }
    }

    /// Calls a function while phones are on.
    ///
    /// - Parameter accounts: How many persons have two of the phones.
    /// - Returns: What the phones have at the end; `nil` without phones.
    func withPhones(_ count: Int, accounts: Int, _ body: () async throws -> Void) async throws -> PhoneEvidence? {
        guard count > 0 else {
            try await body()
            return nil
        }
        let fleet = try await PhoneFleet(
            of: count, accounts: accounts, gatewayPort: gatewayPort, emulatorPort: emulatorPort, identityPort: identityPort,
            in: folder)
        do {
            try await body()
        } catch {
            await fleet.kill()
            throw error
        }
        return await fleet.stop()
    }

    /// The settings with a default of their own, set to it, as in a settings file of this version. The other version does not know
    /// some of them, and must start nevertheless. ``ServiceProcess`` has its own value of `MSI_SUPERVISED`.
    private static let defaults: [String: String] = SettingDeclaration.all.reduce(into: [:]) { defaults, setting in
        guard setting != Setting.supervised.declaration, let fallback = setting.fallback, setting.follows == nil,
            !setting.isSecret, !fallback.contains("$")
        else { return }
        defaults[setting.name] = fallback
    }

    private static func settings(of part: Part, in folder: String) -> [String: String] {
        guard let service = part.service else { return [:] }
        var settings: [String: String] = [:]
        // At this level each of FCM's answers is logged with its name, as evidence for doubled components, and so is each block of pushes.
        if [.fcmRelay, .webpush].contains(service) { settings[Setting.logLevel.declaration.name] = "debug" }
        guard part.number != nil else { return settings }
        for socket in service.sockets {
            settings[Setting<String>.listen(service, socket).declaration.name] = endpoint(of: part, socket, in: folder)
        }
        return settings
    }

    /// The endpoints of the services that have several processes: patterns, so that each finds those that join and leave.
    private static func endpoints(in folder: String) -> [String: String] {
        var settings: [String: String] = [:]
        for service in Part.counts.keys {
            for socket in service.sockets {
                let name = Setting<[String]>.endpoints(of: service, socket).declaration.name
                settings[name] = pattern(of: service, socket, in: folder)
            }
        }
        return settings
    }

    private static func pattern(of service: ServiceEntry, _ socket: BusSocket, in folder: String) -> String {
        "ipc://\(folder)/run/\(Part.socketPattern(service, socket))"
    }

    private static func endpoint(of service: ServiceEntry, in folder: String) -> String {
        "ipc://\(folder)/run/\(service.socketFile(.commands))"
    }

    private static func endpoint(of part: Part, _ socket: BusSocket, in folder: String) -> String {
        "ipc://\(folder)/run/\(part.socketFile(socket) ?? "")"
    }
}

/// Clients of services on the bus.
struct ServiceClients: Sendable {
    let messageLogs: CommandClient
    let eachMessageLog: [Part: CommandClient]
    let people: CommandClient
    let cube: CommandClient
}
