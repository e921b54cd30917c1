import TestSupport
import Testing

/// Clients of FCM from Google, with only the emulator's address changed: the Admin SDK for Python, and one that is generated from
/// FCM's discovery document, as google-api-python-client does.
@Suite("Google's own clients", .timeLimit(.minutes(10))) struct GoogleClientTests {
    @Test(
        "They send, read errors and manage topics, and the SDK renews its token and raises its own exception for each class of error",
        arguments: [("drive_emulator.py", 43), ("drive_discovery_client.py", 28)])
    func everything(script: String, steps: Int) async throws {
        try await withEmulator { client in
            let folder = client.folder.emulator
            let arguments = ["https://127.0.0.1:\(client.port)", "\(folder)/service-account.json", "\(folder)/ca.pem"]
            let output = try await PythonScript.run(script, arguments)
            let lines = output.split(separator: "\n")
            #expect(lines.last == "all of it works", "\(output)")
            #expect(lines.count { $0.hasPrefix("ok ") } == steps, "\(output)")
        }
    }
}
