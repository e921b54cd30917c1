import TestSupport
import Testing

/// Google's own SDK with only the emulator's address changed.
@Suite("The Firebase Admin SDK for Python", .timeLimit(.minutes(10))) struct AdminSDKTests {
    @Test("The SDK sends, manages topics, renews its token, and raises its own exception for each class of error")
    func everything() async throws {
        try await TemporaryFolder.with { folder in
            try await withEmulator(in: folder) { client in
                let output = try await PythonScript.run(
                    "drive_emulator.py",
                    [
                        "https://127.0.0.1:\(client.port)", "\(folder.emulator)/service-account.json",
                        "\(folder.emulator)/ca.pem",
                    ])
                let lines = output.split(separator: "\n")
                #expect(lines.last == "all of it works", "\(output)")
                #expect(lines.count { $0.hasPrefix("ok ") } == 43, "\(output)")
            }
        }
    }
}
