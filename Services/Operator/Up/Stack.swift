import FoundationEssentials
import Glibc
import ServiceKit

/// The processes of `msi up` in the order of their dependencies, with their environments.
struct Stack: Sendable {
    struct Process: Sendable {
        /// The executable's name.
        let name: String
        /// Changes of this process's environment; `nil` removes a variable.
        let environment: [String: String?]
    }

    let stateDirectory: String
    let gatewayPort: Int
    let emulatorPort: Int
    let processes: [Process]
    /// The folder of the executables, which is this one's.
    let executables: URL

    init(_ settings: SettingValues) throws {
        stateDirectory = try settings.value(.stateDirectory)
        gatewayPort = try FreePort.choose(settings.value(.gatewayPort))
        emulatorPort = try FreePort.choose(settings.value(.fcmEmulatorPort))
        executables = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent()
        let emulator = stateDirectory + "/fcm-emulator"
        for setting in [Setting.fcmServiceAccountFile, .fcmCAFile] where try settings.optional(setting) != nil {
            throw ConfigurationError(
                "\(setting.declaration.name) has no place in msi up, whose relay talks to the emulator; start msi-fcm-relay "
                    + "by itself for a real project")
        }
        let shared: [String: String?] = [
            "MSI_STATE_DIR": stateDirectory,
            "MSI_RUNTIME_DIR": try settings.value(.runtimeDirectory),
            "MSI_GATEWAY_PORT": String(gatewayPort),
            "MSI_FCM_EMULATOR_PORT": String(emulatorPort),
            "MSI_FCM_ENDPOINT": "https://127.0.0.1:\(emulatorPort)",
            "MSI_FCM_SERVICE_ACCOUNT_FILE": emulator + "/service-account.json",
            "MSI_FCM_CA_FILE": emulator + "/ca.pem",
            "MSI_SUPERVISED": "true",
            // The supervisor reports a crash. A backtrace would only delay the restart.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        let databases: Set = ["msi-cube", "msi-message-log"]
        processes = ["msi-fcm-emulator", "msi-fcm-relay", "msi-cube", "msi-message-log", "msi-gateway"].map { name in
            // Only the services with a database get its password.
            let withheld = databases.contains(name) ? [:] : [Setting.databaseURL.declaration.name: String?.none]
            return Process(name: name, environment: shared.merging(withheld) { $1 })
        }
    }

    var logDirectory: String { stateDirectory + "/log" }

    /// The text for the terminal once everything runs. Its first line says that the stack is ready.
    var greeting: String {
        """
        ready: the gateway is at http://127.0.0.1:\(gatewayPort) (loopback only: there is no access control yet)
          data   \(stateDirectory)
          logs   \(logDirectory)
          FCM    https://127.0.0.1:\(emulatorPort), an emulator: phones are simulated there
          next   curl http://127.0.0.1:\(gatewayPort)/channel, and "Send the first message" in README.md
          stop   Ctrl-C
        """
    }
}

/// Chooses ports in advance, so that a restarted process gets the same one.
private enum FreePort {
    /// The given port, or a free one for 0.
    static func choose(_ port: Int) throws -> Int {
        guard port == 0 else { return port }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw StartFailure(description: "no socket: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isBound else { throw StartFailure(description: "no free port: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
