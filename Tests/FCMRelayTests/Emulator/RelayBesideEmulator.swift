import Bus
import FoundationEssentials
import Base
import NIOHTTP1
import Schemas
import TestSupport
import Testing

/// A relay's executable, with the emulator's as its FCM.
struct RelayBesideEmulator: Sendable {
    let client: CommandClient
    let fcm: FCMServer
    let process: ServiceProcess
    let endpoint: String

    func relay(_ message: RelayMessage, timeout: Duration = .seconds(60)) async throws -> [ComponentOutcome] {
        try await client.request(message, timeout: timeout).components
    }

    /// Whether FCM accepts every component of a message.
    func isAccepted(_ message: RelayMessage, timeout: Duration = .seconds(60)) async throws -> Bool {
        try await errorCode(of: message, timeout: timeout) == nil
    }

    /// Why a component of a message is not accepted; `nil` if all are accepted.
    func errorCode(of message: RelayMessage, timeout: Duration = .seconds(60)) async throws -> String? {
        try await relay(message, timeout: timeout).lazy.compactMap(\.result.failure?.code).first
    }

    /// Registers a phone.
    ///
    /// - Returns: Its token.
    func registerPhone() async throws -> String {
        try #require(try await fcm.call(.POST, "/emulator/devices").json["token"]?.string)
    }

    /// The topics that a phone is subscribed to.
    func topics(of token: String) async throws -> [String] {
        let answer = try await fcm.call(
            .GET, "/iid/info/\(token)?details=true", headers: ["Authorization": "Bearer owner", "access_token_auth": "true"])
        return try answer.json["rel"]?["topics"]?.names ?? []
    }

    /// The accepted sends of a message, as sent.
    func accepted(_ message: RelayMessage) async throws -> [JSONValue] {
        try await fcm.acceptedSends().compactMap { $0["body"] }.filter { body in
            (body["message"]?["data"] ?? body["data"])?["msi_key"]?.string == message.msiKey.description
        }
    }
}

/// Runs a test with both.
///
/// - Parameter settings: Further settings of the relay, from the emulator's folder and port; by default its service account.
func withRelayBesideEmulator(
    settings: (_ emulatorFolder: String, _ port: Int) throws -> [String: String] = { folder, _ in
        ["MSI_FCM_SERVICE_ACCOUNT_FILE": "\(folder)/service-account.json"]
    },
    isolation: isolated (any Actor)? = #isolation, _ body: (RelayBesideEmulator) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        try await withEmulator(in: folder) { port in
            try await withRelay(beside: port, in: folder, settings: settings("\(folder)/fcm-emulator", port), body)
        }
    }
}

/// Runs a test with a relay's executable beside an emulator that runs in the same folder.
///
/// - Parameter settings: The relay's settings in addition to those for the emulator.
func withRelay(
    beside port: Int, in folder: String, settings: [String: String], isolation: isolated (any Actor)? = #isolation,
    _ body: (RelayBesideEmulator) async throws -> Void
) async throws {
    let emulator = "\(folder)/fcm-emulator"
    let relaySettings = [
        "MSI_FCM_ENDPOINT": "https://127.0.0.1:\(port)", "MSI_FCM_CA_FILE": "\(emulator)/ca.pem",
    ].merging(settings) { $1 }
    try await withService("msi-fcm-relay", in: folder, settings: relaySettings) { process in
        try await withBus { bus in
            let endpoint = "ipc://\(folder)/run/fcm-relay.sock"
            let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
            try await withHTTPClient(trusting: "\(emulator)/ca.pem") { http in
                let fcm = FCMServer(port: port, folder: emulator, http: http)
                try await body(RelayBesideEmulator(client: client, fcm: fcm, process: process, endpoint: endpoint))
            }
        }
    }
}

/// Runs the emulator's executable on a port that the system chooses.
func withEmulator(
    in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: (_ port: Int) async throws -> Void
) async throws {
    try await withService("msi-fcm-emulator", in: folder, settings: ["MSI_FCM_EMULATOR_PORT": "0"]) { emulator in
        try await body(try emulator.port)
    }
}
