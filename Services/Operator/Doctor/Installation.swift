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
    let services: [ServiceEntry]
    /// The environment of the services.
    private(set) var environment: [String: String]
    /// Why the settings or the keys of the services cannot be read by this user; `nil` if they can.
    let unreadable: String?

    /// The state directory of services whose environment names none.
    let defaultStateDirectory: String?

    static let packagesFile = "/machine.env"
    private static let credentials = "/etc/credstore"
    private static let configurationFile = "/etc/msi/msi.env"

    /// - Parameter environment: That of this process.
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
        defaultStateDirectory = environment["HOME"].map { $0 + "/.local/state/msi" }
        services = (ServiceEntry.all + ServiceEntry.optional).filter {
            FileManager.default.isExecutableFile(atPath: "\(folder)/\($0.executable)")
        }
        switch layout {
        case .packages:
            let isReadable = access(Self.configurationFile, R_OK) == 0
            unreadable = isRoot ? nil : isReadable ? "the keys in \(Self.credentials)" : Self.configurationFile
            self.environment = environment.merging(Self.credentialSettings) { own, _ in own }
        case .build:
            unreadable = nil
            self.environment = environment
        }
    }

    /// The settings that name the credentials, as `with-credentials` makes them for a unit. Empty for a user who cannot list them.
    private static var credentialSettings: [String: String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: credentials)) ?? []
        let settings = SettingDeclaration.withFiles.filter(\.namesSecretFile)
        return names.reduce(into: [:]) { found, name in
            let setting = name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined() + "_FILE"
            if settings.contains(where: { $0.name == setting }) { found[setting] = "\(credentials)/\(name)" }
        }
    }

    /// The environment of the services, with what `msi up` adds for the relay: the emulator. A relay with a key of its own is started by
    /// itself.
    func withEmulator(_ settings: SettingValues) throws -> Installation {
        guard layout == .build, try settings.optional(.fcmServiceAccountFile) == nil,
            try settings.optional(.fcmServerKeyFile) == nil
        else { return self }
        let emulator = EmulatorAccess(
            port: try settings.value(.fcmEmulatorPort), stateDirectory: try settings.value(.stateDirectory))
        // Before the first start there is no key yet.
        guard FileManager.default.fileExists(atPath: emulator.serviceAccountFile) else { return self }
        var copy = self
        copy.environment.merge(emulator.settings) { own, _ in own }
        return copy
    }

    /// How the operator starts a service.
    func start(_ service: ServiceEntry?) -> String {
        switch layout {
        case .build: "start everything with deploy/run, or msi up"
        case .packages: service.map { "systemctl start \(unit(of: $0))" } ?? "systemctl start msi.target"
        }
    }

    /// Where the operator reads why a service does not run.
    func log(of service: ServiceEntry, stateDirectory: String) -> String {
        switch layout {
        case .build: "\(stateDirectory)/log/\(service.executable).log"
        case .packages: "journalctl -u \(unit(of: service))"
        }
    }

    func unit(of service: ServiceEntry) -> String { service.executable + (service.mayHaveInstances ? "@1" : "") }
}
