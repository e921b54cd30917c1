import TestSupport
import Testing

/// A client that was generated from FCM's discovery document, as google-api-python-client does.
@Suite("A client of FCM's discovery document", .timeLimit(.minutes(10))) struct DiscoveryClientTests {
    @Test("A client that is generated from the discovery document sends, reads errors, and subscribes phones") func everything()
        async throws
    {
        try await TemporaryFolder.with { folder in
            try await withEmulator(in: folder) { client in
                let output = try await PythonScript.run(
                    "drive_discovery_client.py",
                    [
                        "https://127.0.0.1:\(client.port)", "\(folder.emulator)/service-account.json",
                        "\(folder.emulator)/ca.pem",
                    ])
                let lines = output.split(separator: "\n")
                #expect(lines.last == "all of it works", "\(output)")
                #expect(lines.count { $0.hasPrefix("ok ") } == 28, "\(output)")
            }
        }
    }
}
