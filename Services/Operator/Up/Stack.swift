import FoundationEssentials
import ServiceKit

/// The processes of `msi up` in the order of the catalogue, with their environments.
struct Stack: Sendable {
    struct Process: Sendable {
        let service: ServiceEntry
        /// Changes of this process's environment; `nil` removes a variable.
        let environment: [String: String?]
    }

    let stateDirectory: String
    let gatewayPort: Int
    let emulator: EmulatorAccess
    let processes: [Process]
    /// The folder of the executables, which is this one's.
    let executables: URL

    /// - Throws: ``ConfigurationError``, or ``StartFailure`` where there is no free port.
    init(_ settings: SettingValues) throws {
        stateDirectory = try settings.value(.stateDirectory)
        executables = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent()
        for setting in [Setting.fcmServiceAccountFile, .fcmCAFile] where try settings.optional(setting) != nil {
            throw ConfigurationError(
                "\(setting.declaration.name) cannot be used with msi up, whose relay sends to the emulator; start msi-fcm-relay "
                    + "by itself for a real project")
        }
        let endpoints = try StackEndpoints(settings)
        gatewayPort = endpoints.port(of: .gateway)
        emulator = EmulatorAccess(port: endpoints.port(of: .fcmEmulator), stateDirectory: stateDirectory)
        var shared: [String: String?] = [
            Setting.stateDirectory.declaration.name: stateDirectory,
            Setting.runtimeDirectory.declaration.name: try settings.value(.runtimeDirectory),
            Setting.supervised.declaration.name: "true",
            // The supervisor reports a crash. A backtrace would only delay the restart.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        for (name, value) in endpoints.settings.merging(emulator.settings, uniquingKeysWith: { $1 }) { shared[name] = value }
        // Only the services with a database get its password.
        let withheld = Dictionary(uniqueKeysWithValues: SettingDeclaration.database.map { ($0.name, String?.none) })
        processes = ServiceEntry.all.map { [shared] service in
            Process(service: service, environment: service.keepsData ? shared : shared.merging(withheld) { $1 })
        }
    }

    var logDirectory: String { stateDirectory + "/log" }

    /// The text for the terminal once everything runs. Its first line says that the stack is ready.
    var greeting: String {
        """
        ready: the gateway is at http://127.0.0.1:\(gatewayPort) (loopback only: there is no access control yet)
          data   \(stateDirectory)
          logs   \(logDirectory)
          FCM    \(emulator.url), an emulator: phones are simulated there
          next   curl http://127.0.0.1:\(gatewayPort)/channel, and "Send the first message" in README.md
          stop   Ctrl-C
        """
    }
}
