import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests.OneProduct {
    /// Pushes of other programs, by the message log and directly by the relay.
    @Suite("Pushes")
    struct PushTests {
        @Test("A Python program sends pushes by both services, and gets the outcome for each token")
        func python() async throws {
            let stack = try SharedStack.current
            let fcm = stack.fcm
            let gone = try await Phone.register(at: fcm).token
            let removed = try await fcm.call(.DELETE, "/emulator/devices/\(gone)")
            #expect((200..<300).contains(Int(removed.status)))
            let phone = try await Phone.register(at: fcm).token
            let output = try await PythonScript.run("drive_pushes.py", [stack.stateDirectory + "/run", phone, gone])
            #expect(output.contains("pushes work"))
            let sent = try await fcm.acceptedSends().compactMap { $0["body"]?["message"] }
            #expect(sent.count { $0["data"]?["by"] == "relay" } == 1)
            #expect(sent.count { $0["data"]?["id"] == "17" } == 1)
        }
    }
}
