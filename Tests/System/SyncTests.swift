import FoundationEssentials
import Base
import NIOHTTP1
import TestSupport
import Testing

extension SystemTests {
    /// The syncs before the product's answers.
    @Suite("Syncs")
    struct SyncTests {
        @Test("Everything is synced before the answer 201, including the names of new files and folders")
        func syncs() async throws {
            try await withTemporaryFolder { folder in
                let trace = try await SyncTrace(in: folder)
                let state = folder + "/new/state"
                try await withStack(in: state, script: trace.script) { stack in
                    for made in [folder, folder + "/new", state] {
                        #expect(try trace.count { $0 == made } > 0, "\(made)")
                    }
                    #expect(try trace.count { $0.hasPrefix(state + "/message-log.id.") } == 1)

                    func expectSync(of database: String, _ post: () async throws -> HTTPAnswer) async throws -> HTTPAnswer {
                        let file = "\(state)/\(database).sqlite-wal"
                        let before = try trace.count { $0 == file }
                        let answer = try await post()
                        #expect(answer.status == 201, "\(answer)")
                        #expect(try trace.count { $0 == file } > before, "\(database)")
                        return answer
                    }
                    for number in 0..<5 {
                        _ = try await expectSync(of: "cube") {
                            try await stack.portal.call(.POST, "/channel", ["name": "Campus \(number)", "desc": ""])
                        }
                    }
                    let subject = try await stack.portal.makeSubject("Alert")
                    for _ in 0..<10 {
                        // For a message that is not due, only the message is stored.
                        var message = subject.message()
                        message["send_at"] = .integer(.nowInMilliseconds + 3_600_000)
                        _ = try await expectSync(of: "message-log") { try await stack.portal.post(message) }
                    }
                }
            }
        }
    }
}
