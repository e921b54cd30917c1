import AsyncHTTPClient
import FoundationEssentials
import TestSupport

/// The product with two message logs and two relays, as separate processes. All except FCM and the database server are on one
/// machine.
struct Deployment: Sendable {
    /// In the order of their start.
    let parts: [RunningPart]
    let machine: Machine
    private let folder: String
    private let gatewayPort: Int
    private let emulatorPort: Int

    /// - Parameters:
    ///   - folder: An existing, empty folder for everything that is not on the machine's disk.
    ///   - paths: Each relay's connection to FCM.
    ///   - resolver: The library of ``FCMPath/resolver``.
    init(
        in folder: String, store: Store, emulatorPort: Int, machine: Machine, paths: [Part: FCMPath], resolver: String,
        journal: Journal
    ) throws {
        self.folder = folder
        self.machine = machine
        self.emulatorPort = emulatorPort
        gatewayPort = try FreePort.choose()
        try FileManager.default.createDirectory(atPath: folder + "/log", withIntermediateDirectories: false)
        let databasePort = try FreePort.choose()
        var shared = [
            "MSI_GATEWAY_PORT": String(gatewayPort),
            "MSI_FCM_EMULATOR_PORT": String(emulatorPort),
            "MSI_RUNTIME_DIR": folder + "/run",
            "MSI_FCM_SERVICE_ACCOUNT_FILE": folder + "/fcm-emulator/service-account.json",
            "MSI_FCM_CA_FILE": folder + "/fcm-emulator/ca.pem",
            "MSI_MESSAGE_LOG_ENDPOINTS": Self.endpoints(of: Part.messageLogs, in: folder),
            "MSI_FCM_RELAY_ENDPOINTS": Self.endpoints(of: Part.relays, in: folder),
        ]
        if store == .mongodb {
            // That server's retryable writes are slow.
            shared["MSI_DATABASE_URL"] = "mongodb://127.0.0.1:\(databasePort)/campus?retryWrites=false"
        }
        parts = store.processes.map { [shared] part in
            var settings = shared.merging(Self.settings(of: part, in: folder)) { $1 }
            if part != .emulator {
                let isRelay = Part.relays.contains(part)
                settings.merge(machine.variables(libraries: isRelay ? [resolver] : [])) { $1 }
                settings["MSI_STATE_DIR"] = machine.stateFolder
            }
            settings.merge(paths[part]?.settings ?? [:]) { $1 }
            return RunningPart(
                part, in: folder, port: part == .database ? databasePort : nil, settings: settings,
                sockets: Self.sockets(of: part).map { "\(folder)/run/\($0).sock" }, path: paths[part], journal: journal)
        }
    }

    func start() async throws {
        for part in parts { try await part.start() }
    }

    /// Stops the running processes in reverse order of their start.
    func stop() async {
        for part in parts.reversed() { await part.stop() }
    }

    /// Kills every process in any state.
    func end() async {
        for part in parts { await part.end() }
    }

    /// Calls a function with clients for the gateway and FCM.
    func withClients<Value>(_ body: (Portal, FCMServer) async throws -> Value) async throws -> Value {
        let emulator = folder + "/fcm-emulator"
        return try await withHTTPClient(trusting: emulator + "/ca.pem") { http in
            try await body(
                Portal(port: gatewayPort, http: http), FCMServer(port: emulatorPort, folder: emulator, http: http))
        }
    }

    private static func settings(of part: Part, in folder: String) -> [String: String] {
        switch part {
        // At this level each of FCM's answers is logged with its name, as evidence for doubled components.
        case .relay1, .relay2: ["MSI_FCM_RELAY_LISTEN": endpoint(of: part, in: folder), "MSI_LOG_LEVEL": "debug"]
        case .messageLog1, .messageLog2: ["MSI_MESSAGE_LOG_LISTEN": endpoint(of: part, in: folder)]
        case .database, .emulator, .cube, .gateway, .machine: [:]
        }
    }

    private static func sockets(of part: Part) -> [String] {
        switch part {
        case .cube: ["cube", "cube-events"]
        case .relay1, .relay2, .messageLog1, .messageLog2: [part.rawValue]
        case .database, .emulator, .gateway, .machine: []
        }
    }

    private static func endpoint(of part: Part, in folder: String) -> String {
        "ipc://\(folder)/run/\(part.rawValue).sock"
    }

    private static func endpoints(of parts: [Part], in folder: String) -> String {
        parts.map { endpoint(of: $0, in: folder) }.joined(separator: ",")
    }
}
