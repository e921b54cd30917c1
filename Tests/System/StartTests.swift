import FoundationEssentials
import Base
import TestSupport
import Testing

extension SystemTests {
    /// The error texts for an operator if a service cannot start.
    @Suite("A start that fails", .timeLimit(.minutes(10)))
    struct StartTests {
        /// A service with a setting of an endpoint, a wrong value, and what is said about it: each setting, and each kind of value. All
        /// settings with all values only at length.
        static let wrongEndpoints: [(String, String, String, String)] = {
            let settings = [
                ("msi-fcm-relay", "MSI_FCM_RELAY_LISTEN"), ("msi-cube", "MSI_CUBE_LISTEN"),
                ("msi-cube", "MSI_CUBE_EVENTS_LISTEN"), ("msi-message-log", "MSI_MESSAGE_LOG_LISTEN"),
                ("msi-message-log", "MSI_FCM_RELAY_ENDPOINTS"), ("msi-gateway", "MSI_CUBE_ENDPOINTS"),
                ("msi-gateway", "MSI_MESSAGE_LOG_LISTEN"),
            ]
            let values = [
                ("somewhere", "expected ipc://<path> or tcp://"), ("tcp://0.0.0.0:7000", "0.0.0.0 is no loopback address"),
                ("tcp://*:7000", "0.0.0.0 stands for all"), ("tcp://192.168.1.9:7000", "the bus has no keys"),
            ]
            var wrong: [(String, String, String, String)] = []
            for (row, setting) in settings.enumerated() {
                for (column, value) in values.enumerated() where Level.isAll || row % values.count == column {
                    wrong.append((setting.0, setting.1, value.0, value.1))
                }
            }
            return wrong
        }()

        @Test(
            "An invalid bus endpoint, or one of another machine, is an error that names the setting and shows the value",
            arguments: wrongEndpoints)
        func endpoints(service: String, setting: String, text: String, problem: String) async throws {
            try await withTemporaryFolder { folder in
                let environment = [
                    "MSI_STATE_DIR": folder, "MSI_FCM_SERVICE_ACCOUNT_FILE": folder + "/key", "MSI_GATEWAY_PORT": "0",
                    setting: text,
                ]
                try await ServiceAccountFile.json(tokenURI: "https://127.0.0.1:1/token")
                    .write(to: URL(filePath: folder + "/key"))
                let end = try await runProgram(service, environment: environment)
                #expect(end.exitCode == 78)
                #expect(
                    end.lines.contains {
                        $0.contains("\(setting): ") && $0.contains(text) && $0.contains(problem)
                    }, "\(end.lines)")
            }
        }

        @Test(
            "A port that is taken is named, with its setting",
            arguments: [("msi-gateway", "MSI_GATEWAY_PORT"), ("msi-fcm-emulator", "MSI_FCM_EMULATOR_PORT")])
        func takenPort(service: String, setting: String) async throws {
            try await withTemporaryFolder { folder in
                let environment = ["MSI_STATE_DIR": folder + "/1", "MSI_GATEWAY_PORT": "0", "MSI_FCM_EMULATOR_PORT": "0"]
                _ = try await withProgram(service, environment: environment) { program in
                    let line = try await program.line { $0.contains("127.0.0.1:") }
                    let address = try #require(line.firstMatch(of: /127\.0\.0\.1:([0-9]+)/))
                    let port = String(address.1)
                    let end = try await runProgram(
                        service,
                        environment: ["MSI_STATE_DIR": folder + "/2", "MSI_GATEWAY_PORT": port, "MSI_FCM_EMULATOR_PORT": port])
                    #expect(end.exitCode == 1)
                    #expect(
                        end.lines.contains {
                            $0.contains("127.0.0.1:\(port) cannot be served: port \(port) is in use by another program; ")
                                && $0.contains("choose another port with \(setting)")
                        }, "\(end.lines)")
                }
            }
        }

        @Test("A second emulator does not touch the folder of the first")
        func twoEmulators() async throws {
            try await withTemporaryFolder { folder in
                let environment = ["MSI_STATE_DIR": folder, "MSI_FCM_EMULATOR_PORT": "0"]
                _ = try await withProgram("msi-fcm-emulator", environment: environment) { program in
                    _ = try await program.line { $0.contains("ready") }
                    let key = folder + "/fcm-emulator/service-account.json"
                    let before = try Data(contentsOf: URL(filePath: key))
                    let end = try await runProgram("msi-fcm-emulator", environment: environment)
                    #expect(end.exitCode == 1 && end.lines.contains { $0.contains("another emulator") }, "\(end.lines)")
                    #expect(try Data(contentsOf: URL(filePath: key)) == before)
                }
            }
        }
    }
}
