import Foundation
import Glibc
import TestSupport
import Testing

@testable import MessageLog

@Suite("Process identity")
struct ProcessIdentityTests {
    @Test("A running process keeps its leases; those of an ended process go once to a process of the same instance")
    func ended() async throws {
        try await withTemporaryFolder { folder in
            let running = ProcessIdentity(of: "instance", in: folder, logger: quietLogger)
            let next = ProcessIdentity(of: "instance", in: folder, logger: quietLogger)
            #expect(running.owner != next.owner && next.owner.hasPrefix("instance "))
            for (file, text) in [
                ("a.lock", "instance a"), ("b.lock", "instance b"), ("c.lock", "another c"), ("d.lock", ""),
                ("e.lock.new", "instance e"),
            ] {
                try Data(text.utf8).write(to: URL(filePath: "\(folder)/message-log.processes/\(file)"))
            }

            struct DatabaseAway: Error {}
            await #expect(throws: DatabaseAway.self) { try await next.forEachEndedProcess { _ in throw DatabaseAway() } }
            var owners: [String] = []
            #expect(try await next.forEachEndedProcess { owners.append($0) } == 1)
            #expect(owners.sorted() == ["instance a", "instance b"])
            #expect(try await next.forEachEndedProcess { owners.append($0) } == 1)
            #expect(owners.count == 2)

            let another = ProcessIdentity(of: "another", in: folder, logger: quietLogger)
            #expect(try await another.forEachEndedProcess { owners.append($0) } == 0)
            #expect(owners.last == "another c")
        }
    }

    @Test("Without a lock file the process works, and the log names the consequence")
    func noLock() async throws {
        try await withTemporaryFolder { folder in
            // A file in place of the folder. (A read-only folder would not stop root.)
            try Data().write(to: URL(filePath: folder + "/message-log.processes"))
            let log = RecordedLog()
            let process = ProcessIdentity(of: "instance", in: folder, logger: log.logger)
            #expect(process.owner.hasPrefix("instance "))
            #expect(log.louderThanDebug.count == 1)
            await #expect(throws: (any Error).self) { try await process.forEachEndedProcess { _ in } }
        }
    }
}
