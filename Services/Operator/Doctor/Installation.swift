import FoundationEssentials
import Glibc
import ServiceKit

/// What is installed on this machine: the services, and the settings that they are started with.
struct Installation: Sendable {
    /// How the services are started.
    enum Layout: Sendable {
        /// By `msi up`, from a build.
        case build
        /// By systemd, from the Debian packages.
        case packages
    }

    let layout: Layout
    /// The folder of the executables, which is this one's.
    let executables: String
    /// The installed services.
    private(set) var services: [ServiceEntry]
    /// The environment of the services.
    private(set) var environment: [String: String]
    /// The settings that name the credentials of systemd, which override those of the files. Empty in a build, and for a user who cannot
    /// list them.
    let credentials: [String: String]
    /// Why the settings or the keys of the services cannot be read by this user; `nil` if they can.
    let unreadable: String?

    static let packagesFile = "/machine.env"
    static let credentialFolder = "/etc/credstore"
    private static let configurationFile = "/etc/msi/msi.env"

    /// - Parameter environment: The environment of this process.
    init(environment: [String: String]) throws {
        let own = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        self.init(
            executables: own.deletingLastPathComponent().path(percentEncoded: false), environment: environment,
            isRoot: geteuid() == 0)
    }

    init(executables: String, environment: [String: String], isRoot: Bool) {
        let folder = executables.hasSuffix("/") ? String(executables.dropLast()) : executables
        let layout: Layout = FileManager.default.fileExists(atPath: folder + Self.packagesFile) ? .packages : .build
        self.layout = layout
        self.executables = folder
        services = (ServiceEntry.all + ServiceEntry.optional).filter {
            FileManager.default.isExecutableFile(atPath: "\(folder)/\($0.executable)")
        }
        switch layout {
        case .packages:
            let isReadable = access(Self.configurationFile, R_OK) == 0
            unreadable = isRoot ? nil : isReadable ? "the keys in \(Self.credentialFolder)" : Self.configurationFile
            credentials = Self.credentialSettings
            // Credentials override the files, as in the units, where with-credentials sets them last.
            self.environment = environment.merging(credentials) { $1 }
        case .build:
            unreadable = nil
            credentials = [:]
            self.environment = environment
        }
    }

    /// The settings of credentials, derived as `with-credentials` does for a unit.
    private static var credentialSettings: [String: String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: credentialFolder)) ?? []
        let settings = SettingDeclaration.withFiles.filter(\.namesSecretFile)
        return names.reduce(into: [:]) { found, name in
            let setting = name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined() + "_FILE"
            if settings.contains(where: { $0.name == setting }) { found[setting] = "\(credentialFolder)/\(name)" }
        }
    }

    /// The services that are switched on. A mistake in a setting switches nothing off; the check of the configuration names it.
    func without(switchedOffBy settings: SettingValues) -> Installation {
        var copy = self
        copy.services = services.filter { (try? settings.includes($0)) ?? true }
        return copy
    }

    /// The environment of the services, with what `msi up` adds: a contact for push services, and the emulators. A relay with its own key is
    /// started separately.
    func withSettingsOfUp(_ settings: SettingValues) throws -> Installation {
        guard layout == .build else { return self }
        var copy = self
        let contact = Setting.webPushContact
        if try settings.optional(contact) == nil {
            copy.environment[contact.declaration.name] = Setting<String>.exampleWebPushContact
        }
        if try settings.usesIdentityEmulator {
            let emulator = IdentityEmulatorAccess(port: try settings.value(.identityEmulatorPort))
            copy.environment.merge(settings.trial(with: emulator)) { own, _ in own }
        }
        guard try settings.usesFCM, try settings.optional(.fcmServiceAccountFile) == nil else { return copy }
        let emulator = EmulatorAccess(
            port: try settings.value(.fcmEmulatorPort), stateDirectory: try settings.value(.stateDirectory))
        // Before the first start there is no key yet.
        guard FileManager.default.fileExists(atPath: emulator.serviceAccountFile) else { return copy }
        copy.environment.merge(emulator.settings) { own, _ in own }
        return copy
    }

    /// The path of a service's executable.
    func path(of service: ServiceEntry) -> String { "\(executables)/\(service.executable)" }

    /// How the operator starts a service.
    ///
    /// - Parameter endpoint: The instance's endpoint.
    func start(_ service: ServiceEntry?, at endpoint: String = "") -> String {
        switch layout {
        case .build: "start everything with deploy/run, or msi up"
        case .packages: service.map { "systemctl start \(unit(of: $0, at: endpoint))" } ?? "systemctl start msi.target"
        }
    }

    /// Where the operator reads why a service does not run.
    ///
    /// - Parameter endpoint: The instance's endpoint.
    func log(of service: ServiceEntry, at endpoint: String, stateDirectory: String) -> String {
        switch layout {
        case .build: "\(stateDirectory)/log/\(service.executable).log"
        case .packages: "journalctl -u \(unit(of: service, at: endpoint))"
        }
    }

    /// The unit of a service's instance: by the name of the socket, such as `fcm-relay@2.sock`, or else the first one.
    func unit(of service: ServiceEntry, at endpoint: String) -> String {
        guard service.mayHaveInstances else { return service.executable }
        let file = endpoint.split(separator: "/").last ?? ""
        let (start, end) = (service.name + "@", ".sock")
        let isNamed = file.hasPrefix(start) && file.hasSuffix(end) && !file.contains("*")
        let instance = isNamed ? file.dropFirst(start.count).dropLast(end.count) : "1"
        return "\(service.executable)@\(instance.isEmpty ? "1" : instance)"
    }

    /// The units of all instances of a service, for `systemctl` in a shell.
    func units(of service: ServiceEntry) -> String { service.mayHaveInstances ? "'\(service.executable)@*'" : service.executable }

    /// Where the setting is that a sentence names first; `nil` if that is not known.
    func place(ofSettingIn sentence: String, configurationFile: String?) -> String? {
        guard let name = sentence.firstMatch(of: /MSI_[A-Z0-9_]+/).map({ String($0.output) }) else { return nil }
        let units = ((try? FileManager.default.contentsOfDirectory(atPath: "/etc/msi")) ?? [])
            .filter { $0.hasPrefix("msi-") && $0.hasSuffix(".env") }.sorted().map { "/etc/msi/" + $0 }
        let files = (layout == .packages ? ["/etc/msi/cluster.env"] + units : []) + [configurationFile].compactMap(\.self)
        let found = files.filter { path in
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(whereSeparator: \.isNewline).contains { line in
                line.prefix { $0 != "=" }.filter { !$0.isWhitespace } == name
            }
        }
        if !found.isEmpty { return found.joined(separator: " or ") }
        return layout == .build && environment[name] != nil ? "the environment" : nil
    }
}
