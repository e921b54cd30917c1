import Bus
import FoundationEssentials
import ServiceKit
import SystemPackage

/// The processes of `msi up` in the order of the catalogue, with their environments.
struct Stack: Sendable {
    struct Process: Sendable {
        let service: ServiceEntry
        /// Changes of this process's environment; `nil` removes a variable.
        let environment: [String: String?]
        /// The port of its metrics; `nil` if it serves none, and 0 if the system chooses one.
        let metricsPort: Int?
    }

    let settings: SettingValues
    let stateDirectory: String
    /// For clients on this machine.
    let gatewayURL: String
    /// The address for other clients; `nil` if there are none.
    let publicURL: String?
    /// The replacement of FCM; `nil` if FCM is switched off.
    let emulator: EmulatorAccess?
    /// The replacement of students' identity providers; `nil` if there is a real one, or if others reach the gateway.
    let identityEmulator: IdentityEmulatorAccess?
    /// Where the people service takes commands.
    let peopleEndpoint: String
    let processes: [Process]
    /// The phone to look at, which gets its messages from the emulator. The services do not need it.
    let phone: Process?
    private let phoneURL: String
    private let gatewayPort: Int
    /// The folder of the executables, which is this one's.
    let executables: URL

    /// - Throws: ``ConfigurationError``, or ``StartFailure`` where there is no free port.
    init(_ settings: SettingValues) throws {
        self.settings = settings
        stateDirectory = try settings.value(.stateDirectory)
        executables = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent()
        for setting in [Setting.fcmServiceAccountFile, .fcmCAFile] where try settings.optional(setting) != nil {
            throw ConfigurationError(
                "\(setting.declaration.name) cannot be used with msi up, whose relay sends to the emulator; start msi-fcm-relay "
                    + "by itself for a real project")
        }
        let endpoints = try StackEndpoints(settings)
        peopleEndpoint = try endpoints.commands(of: .people, settings)
        let access = try GatewayAccess(settings)
        gatewayPort = endpoints.port(of: .gateway)
        gatewayURL = access.localURL(port: gatewayPort)
        publicURL = access.publicURL
        emulator =
            try settings.usesFCM
            ? EmulatorAccess(port: endpoints.port(of: .fcmEmulator), stateDirectory: stateDirectory) : nil
        identityEmulator =
            try settings.usesIdentityEmulator ? IdentityEmulatorAccess(port: endpoints.port(of: .identityEmulator)) : nil
        var shared: [String: String?] = [
            Setting.stateDirectory.declaration.name: stateDirectory,
            Setting.runtimeDirectory.declaration.name: try settings.value(.runtimeDirectory),
            Setting.supervised.declaration.name: "true",
            // The supervisor reports a crash. A backtrace would only delay the restart.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        let trial = identityEmulator.map(settings.trial) ?? [:]
        for given in [endpoints.settings, emulator?.settings ?? [:], trial] {
            for (name, value) in given { shared[name] = value }
        }
        let contact = Setting.webPushContact
        let usesWebPush = try settings.optional(contact) == nil || settings.includes(.webpush)
        if usesWebPush {
            shared[contact.declaration.name] = try settings.optional(contact) ?? Setting<String>.exampleWebPushContact
        }
        let services = ServiceEntry.all + [.phone]
        let metricsPort = try Self.metricsPort(settings, count: services.count)
        // Each has the same port, whatever is switched off.
        let all = services.enumerated().map { index, service in
            var own = Self.withheldSecrets(from: service)
            // Port 0 lets the system choose one for each.
            let port = metricsPort.map { $0 == 0 ? 0 : $0 + index }
            if let port, port > 0 { own[Setting.metricsPort.declaration.name] = "\(port)" }
            return Process(service: service, environment: shared.merging(own) { $1 }, metricsPort: port)
        }
        let usesIdentityEmulator = identityEmulator != nil
        processes = try all.dropLast().filter { process in
            switch process.service {
            case .webpush: usesWebPush
            case .identityEmulator: usesIdentityEmulator
            default: try settings.includes(process.service)
            }
        }
        phone = emulator == nil ? nil : all.last
        phoneURL = "http://127.0.0.1:\(endpoints.port(of: .phone))"
    }

    /// - Parameter count: How many processes need a port, this one and those that follow it.
    /// - Throws: ``ConfigurationError``.
    private static func metricsPort(_ settings: SettingValues, count: Int) throws -> Int? {
        guard let first = try settings.optional(.metricsPort) else { return nil }
        let last = 65_535
        guard first == 0 || first + count - 1 <= last else {
            throw ConfigurationError(
                "\(Setting.metricsPort.declaration.name): the \(count) processes need this port and those that follow it, so it is at "
                    + "most \(last - count + 1), found \(first)")
        }
        return first
    }

    /// Removes the secrets that a service does not read, such as the password of a database, with their files' names.
    private static func withheldSecrets(from service: ServiceEntry) -> [String: String?] {
        let secrets = SettingDeclaration.all.filter(\.isSecret).flatMap { [$0] + ($0.file.map { [$0] } ?? []) }
        let withheld = secrets.filter { !service.settings.contains($0) }
        return Dictionary(uniqueKeysWithValues: withheld.map { ($0.name, String?.none) })
    }

    var logDirectory: String { stateDirectory + "/log" }

    /// The text for the terminal once everything runs. Its first line says that the stack is ready.
    ///
    /// - Parameters:
    ///   - hasPhone: Whether the phone runs, if there is to be one.
    ///   - command: How this command was called.
    ///   - environment: Of this process.
    func greeting(
        hasPhone: Bool, command: String = CommandLine.arguments.first ?? "msi",
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        let lines: [String?] = [
            "ready: the gateway is at \(gatewayURL) (\(publicURL.map { "for clients: \($0)" } ?? "loopback only"))",
            "  data     \(stateDirectory)",
            "  logs     \(logDirectory)",
            "  app      \(publicURL ?? gatewayURL)/app/, for students' browsers",
            phone.map { _ in "  phone    \(hasPhone ? "\(phoneURL), a student's phone to look at" : "none, it did not start")" },
            emulator.map { "  FCM      \($0.url), an emulator: phones are simulated there" },
            identityEmulator.map { "  sign-in  \($0.url), stands for Google, Firebase and Facebook" },
            metrics.map { "  metrics  \($0)" },
            "  next     \(variables(environment))\(command.shellQuoted) sample adds subjects to try out; then open "
                + "\(publicURL ?? gatewayURL)/portal/, sign in as admin and send a message",
            "  stop     Ctrl-C",
        ]
        return lines.compactMap(\.self).joined(separator: "\n")
    }

    /// The settings that a command in another terminal needs to find this stack, for the shell. A port 0 has become one by now.
    private func variables(_ environment: [String: String]) -> String {
        let values: [(SettingDeclaration, String?)] = [
            (.configFile, settings.configurationFile), (Setting.stateDirectory.declaration, stateDirectory),
            (Setting<Int>.gatewayPort.declaration, String(gatewayPort)),
        ]
        return values.filter { environment[$0.0.name] != nil }.map { "\($0.0.name)=\(($0.1 ?? "").shellQuoted) " }.joined()
    }

    /// Which process serves its metrics at which port.
    private var metrics: String? {
        guard let first = processes.first?.metricsPort else { return nil }
        guard first > 0 else { return "at ports that the system has chosen: each log has its own, in the line \"metrics\"" }
        let all = processes + (phone.map { [$0] } ?? [])
        let places = all.enumerated().compactMap { index, process in
            process.metricsPort.map { port in
                "\(index == 0 ? "http://127.0.0.1:\(port)/metrics" : "\(port)") (\(process.service.executable))"
            }
        }
        return places.joined(separator: ", ")
    }
}

/// The endpoints of a stack's processes. Port 0 is replaced by a free port here, because a restarted process must
/// listen on the same port.
struct StackEndpoints: Sendable {
    /// The values by the settings' names in the environment.
    private(set) var settings: [String: String] = [:]
    private var ports: [ServiceEntry: Int] = [:]

    /// - Throws: ``ConfigurationError``, or ``StartFailure`` if there is no free port.
    init(_ values: SettingValues) throws {
        for service in ServiceEntry.all {
            if let setting = service.port {
                let wanted = try values.value(setting)
                let port = try Self.fixed(service == .identityEmulator ? Self.available(wanted) : wanted)
                ports[service] = port
                settings[setting.declaration.name] = String(port)
            }
            for socket in service.sockets {
                let setting = Setting<String>.listen(service, socket)
                let endpoint = try values.value(setting)
                if case .tcp(host: _, port: 0) = try Endpoint(endpoint), let colon = endpoint.lastIndex(of: ":") {
                    settings[setting.declaration.name] = "\(endpoint[..<colon]):\(try Self.fixed(0))"
                }
            }
        }
        let port = try Self.fixed(Self.available(values.value(.phonePort)))
        ports[.phone] = port
        settings[Setting<Int>.phonePort.declaration.name] = String(port)
    }

    /// The port of a service whose entry has one.
    func port(of service: ServiceEntry) -> Int {
        guard let port = ports[service] else { preconditionFailure("\(service.name) has no port") }
        return port
    }

    /// Where a service takes commands.
    ///
    /// - Throws: ``ConfigurationError``.
    func commands(of service: ServiceEntry, _ values: SettingValues) throws -> String {
        let setting = Setting<String>.listen(service)
        return try settings[setting.declaration.name] ?? values.value(setting)
    }

    /// Another stack may have the usual port of the phone or of the identity emulator. Nothing but the greeting names these, so any other one
    /// will do: 0.
    private static func available(_ port: Int) -> Int { LoopbackPort.obstacle(port) == nil ? port : 0 }

    private static func fixed(_ port: Int) throws -> Int {
        guard port == 0 else { return port }
        do {
            return try LoopbackPort.free()
        } catch {
            throw StartFailure(description: "there is no free port: \(error)")
        }
    }
}
