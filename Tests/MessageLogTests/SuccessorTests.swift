import Foundation
import Glibc
import Schemas
import TestSupport
import Testing

/// A message log that starts while another process of its instance has not ended.
@Suite("Successor", .timeLimit(.minutes(10)))
struct SuccessorTests {
    @Test(
        "A successor works and can be stopped; it leaves its predecessor's messages alone, says so once, and takes them over afterwards"
    )
    func waits() async throws {
        try await withTemporaryFolder { folder in
            let key = try await RunningMessageLog.with(in: folder) { log in
                // Without a relay it keeps waiting.
                try await log.log(.sample()).msiKey
            }
            let identifier = try String(contentsOfFile: folder + "/message-log.id", encoding: .utf8)
            let owner = "\(identifier) ipc://\(folder)/run/message-log.sock predecessor"
            let file = folder + "/message-log.processes/predecessor.lock"
            try Data(owner.utf8).write(to: URL(filePath: file))
            let descriptor = open(file, O_RDONLY)
            try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)

            let waiting = "a process of this instance is still finishing; its messages are left to it"
            try await RunningMessageLog.with(in: folder) { log in
                try await eventually { log.lines(waiting) == 1 }
                #expect(try await log.message(key).relay.state == .pending)
                #expect(await log.process.stop() == 0)
                #expect(log.lines(waiting) == 1)
            }
            try await RunningMessageLog.with(in: folder) { log in
                try await eventually { log.lines(waiting) == 1 }
                close(descriptor)
                try await eventually { log.lines("the process that was finishing has ended") == 1 }
                #expect(!FileManager.default.fileExists(atPath: file))
            }
        }
    }
}
