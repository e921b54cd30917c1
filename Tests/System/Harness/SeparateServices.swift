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
    private let relaySettings: [String: String]

    /// Runs the emulator, the cube service and the gateway. The test starts the relay and the message log.
    static func with(_ body: (SeparateServices) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let emulatorSettings = ["MSI_FCM_EMULATOR_PORT": "0"]
            try await withService("msi-fcm-emulator", in: folder, settings: emulatorSettings) { emulator in
                let access = EmulatorAccess(port: try emulator.port, stateDirectory: folder)
                try await withService("msi-cube", in: folder) { _ in
                    try await withService("msi-gateway", in: folder, settings: ["MSI_GATEWAY_PORT": "0"]) { gateway in
                        let gatewayPort = try gateway.port
                        try await withHTTPClient(trusting: access.certificateFile) { http in
                            try await body(
                                SeparateServices(
                                    folder: folder, portal: Portal(port: gatewayPort, http: http),
                                    fcm: FCMServer(port: access.port, folder: access.folder, http: http),
                                    relaySettings: access.settings.merging(["MSI_FCM_RAMP": "0"]) { $1 }))
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
}
