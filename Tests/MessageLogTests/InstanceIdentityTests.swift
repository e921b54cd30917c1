import FoundationEssentials
import Schemas
import TestSupport
import Testing

/// The file that keeps an instance's name across restarts.
@Suite("Instance identity", .timeLimit(.minutes(10)))
struct InstanceIdentityTests {
    @Test(
        "An identifier file that a power cut has damaged is created again, with a warning",
        arguments: ["", "\0\0\0", "5a"])
    func garbled(_ content: String) async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/message-log.id"
            try Data(content.utf8).write(to: URL(filePath: file))
            try await RunningMessageLog.with(in: folder) { log in
                _ = try await log.log(.sample())
                #expect(log.process.log.contains("identifier was not readable"))
            }
            let identifier = try String(contentsOfFile: file, encoding: .utf8)
            #expect(ObjectID(identifier) != nil)
            try await RunningMessageLog.with(in: folder) { log in
                #expect(!log.process.log.contains("not readable"))
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == identifier)
            // No temporary file is left.
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.filter { $0.hasPrefix("message-log.id") } == ["message-log.id"])
        }
    }
}
