import Glibc
import JSON
import ServiceKit
import TestSupport
import Testing

/// The product without a supervisor: the test starts and ends each service as a separate process.
struct SeparateServices: Sendable {
    let folder: String
    let portal: Portal
    let fcm: FCMServer
    /// The people service and the cube service, which a test may stop or freeze.
    let people: ServiceProcess
    let cube: ServiceProcess
    private let relaySettings: [String: String]

    /// Runs the emulator, the cube service, the people service and the gateway. The test starts the relay and the message log.
    static func with(
        gatewaySettings: [String: String] = [:], _ body: (SeparateServices) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let emulatorSettings = ["MSI_FCM_EMULATOR_PORT": "0"]
            let gatewaySettings = gatewaySettings.merging(["MSI_GATEWAY_PORT": "0"]) { given, _ in given }
            try await withService("msi-fcm-emulator", in: folder, settings: emulatorSettings) { emulator in
                let access = EmulatorAccess(port: try emulator.port, stateDirectory: folder)
                try await withService("msi-cube", in: folder) { cube in
                    try await TestOperator.prepare(folder)
                    try await withService("msi-people", in: folder) { people in
                        try await TestOperator.setUp(in: folder)
                        try await withService("msi-gateway", in: folder, settings: gatewaySettings) { gateway in
                            let gatewayPort = try gateway.port
                            try await withHTTPClient(trusting: access.certificateFile) { http in
                                try await body(
                                    SeparateServices(
                                        folder: folder,
                                        portal: Portal(port: gatewayPort, http: http, token: try TestOperator.token(in: folder)),
                                        fcm: FCMServer(port: access.port, folder: access.folder, http: http),
                                        people: people, cube: cube,
                                        relaySettings: access.settings.merging(["MSI_FCM_RAMP": "0"]) { $1 }))
                            }
                        }
                    }
                }
            }
        }
    }

    /// Starts another process of a service.
    ///
    /// - Parameter own: Settings in addition to those that the services have in common.
    func start(_ name: String, settings own: [String: String] = [:]) async throws -> ServiceProcess {
        try await ServiceProcess(
            name, in: folder, settings: (name == "msi-fcm-relay" ? relaySettings : [:]).merging(own) { _, own in own })
    }

    /// Starts a further gateway.
    ///
    /// - Parameters:
    ///   - own: The name of its own state directory; `nil` for that of the first gateway.
    ///   - settings: Further settings.
    func startGateway(
        in own: String? = nil, settings: [String: String] = [:]
    ) async throws -> (process: ServiceProcess, portal: Portal) {
        let folders = own.map { ["MSI_STATE_DIR": "\(folder)/\($0)", "MSI_RUNTIME_DIR": "\(folder)/run"] } ?? [:]
        let process = try await start(
            "msi-gateway", settings: folders.merging(["MSI_GATEWAY_PORT": "0"]) { $1 }.merging(settings) { $1 })
        return (process, Portal(port: try process.port, http: portal.http, token: portal.token))
    }

    /// Starts or continues the people service and the cube service, which were ended, or frozen by `SIGSTOP`.
    ///
    /// - Returns: The running processes.
    func restart(after signal: Int32) async throws -> [ServiceProcess] {
        guard signal == SIGSTOP else { return [try await start("msi-people"), try await start("msi-cube")] }
        for process in [people, cube] { process.signal(SIGCONT) }
        return [people, cube]
    }
}
