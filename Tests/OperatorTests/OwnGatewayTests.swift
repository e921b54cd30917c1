import ServiceKit
import Synchronization
import Testing

@testable import Operator

/// Where `msi send` finds the gateway of its machine.
@Suite("The gateway of the machine")
struct OwnGatewayTests {
    @Test(
        "It is reached on loopback, or under the name in its certificate",
        arguments: [
            ([:], "http://127.0.0.1:8080", "MSI_GATEWAY_PORT"),
            (["MSI_GATEWAY_PORT": "8090", "MSI_GATEWAY_HOST": "127.0.0.5"], "http://127.0.0.5:8090", "MSI_GATEWAY_PORT"),
            (
                [
                    "MSI_GATEWAY_HOST": "0.0.0.0", "MSI_GATEWAY_TRUSTED_PROXIES": "10.0.0.5",
                    "MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu",
                ],
                "http://127.0.0.1:8080", "MSI_GATEWAY_PORT"
            ),
            (
                [
                    "MSI_GATEWAY_HOST": "10.0.0.4", "MSI_GATEWAY_TRUSTED_PROXIES": "10.0.0.5",
                    "MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu",
                ],
                "https://hub.example.edu", "MSI_GATEWAY_PUBLIC_URL"
            ),
            (
                [
                    "MSI_GATEWAY_HOST": "0.0.0.0", "MSI_GATEWAY_TLS_CERTIFICATE_FILE": "c.pem",
                    "MSI_GATEWAY_TLS_KEY_FILE": "k.pem",
                    "MSI_GATEWAY_PUBLIC_URL": "https://hub.example.edu",
                ],
                "https://hub.example.edu", "MSI_GATEWAY_PUBLIC_URL"
            ),
        ] as [([String: String], String, String)])
    func url(_ environment: [String: String], _ url: String, _ setting: String) async throws {
        let settings = try await SettingValues(arguments: [], environment: environment, accepted: [])
        let found = try GatewayClient.ownGateway(settings)
        #expect(found.url == url && found.source == setting)
    }

    @Test(
        "The token of the state directory goes to no other machine, and no token goes there without encryption",
        arguments: [
            (["MSI_GATEWAY_URL": "http://hub.example.edu"], "http:// only with a loopback address"),
            (
                ["MSI_GATEWAY_URL": "http://127.0.0.1.example.edu", "MSI_TOKEN": "t"],
                "http:// only with a loopback address"
            ),
            (["MSI_GATEWAY_URL": "https://hub.example.edu"], "MSI_TOKEN is required for https://hub.example.edu"),
        ])
    func otherGateways(_ environment: [String: String], _ complaint: String) async throws {
        let error = await #expect(throws: ConfigurationError.self) {
            let settings = try await SettingValues(arguments: [], environment: environment, accepted: [])
            try await GatewayClient.with(settings, report: { _ in }) { _ in }
        }
        #expect(error.map { "\($0)".contains(complaint) } == true, "\(String(describing: error))")
    }

    @Test("A gateway that does not answer is tried again for a time, and then is an error that names it")
    func unreachable() async throws {
        let url = "http://127.0.0.1:1"
        let settings = try await SettingValues(
            arguments: [], environment: ["MSI_GATEWAY_URL": url, "MSI_TOKEN": "t"], accepted: [])
        let reports = Mutex<[String]>([])
        let failure = await #expect(throws: GatewayFailure.self) {
            try await GatewayClient.with(
                settings, retryTimeout: .seconds(3), report: { text in reports.withLock { $0.append(text) } }
            ) { gateway in let _: [String] = try await gateway.get("/channel") }
        }
        #expect(failure?.kind == .unreachable && failure.map { "\($0.exitCode)" }?.contains("75") == true)
        #expect(failure?.description.contains("the gateway at \(url) (MSI_GATEWAY_URL) does not answer") == true)
        // However often it is tried.
        #expect(reports.withLock(\.count) == 1)
    }

    @Test("A time is Unix milliseconds or ISO 8601 with an offset")
    func time() throws {
        #expect(try SendTime("1795262462399").milliseconds == 1_795_262_462_399)
        #expect(try SendTime("2026-12-01T08:00:00+01:00").milliseconds == 1_796_108_400_000)
        #expect(try SendTime("2026-12-01T07:00:00Z").milliseconds == 1_796_108_400_000)
        for text in ["", "tomorrow", "2026-12-01", "2026-12-01T08:00:00"] {
            #expect(throws: (any Error).self) { try SendTime(text) }
        }
    }
}
