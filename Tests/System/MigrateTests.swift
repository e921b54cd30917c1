import FoundationEssentials
import Glibc
import Base
import NIOHTTP1
import ServiceKit
import TestSupport
import Testing

extension SystemTests {
    /// `msi migrate` from one kind of database to the other.
    @Suite("Migration")
    struct MigrateTests {
        /// How many messages are sent before the move, one after another.
        private static let sent = Level.isAll ? 30 : 10

        @Test(
            """
            Everything moves from SQLite to MongoDB, and the product continues with it; then the old folder is refused unchanged, and \
            everything moves back to an empty one
            """, .timeLimit(.minutes(10)))
        func thereAndBack() async throws {
            try await withMongoServer { server in
                let url = server.url(database: "campus")
                try await withTemporaryFolder { folder in
                    let (cube, messages, templates, subject) = try await withStack(in: folder + "/one") {
                        stack throws -> (JSONValue, JSONValue?, JSONValue, SubjectPath) in
                        let subject = try await stack.portal.makeSubject("Information")
                        var scheduled = subject.message(title: "later")
                        scheduled["send_at"] = .integer(.nowInMilliseconds + 3_600_000)
                        scheduled["drill"] = true
                        let template: JSONValue = ["name": "Room", "title": "{{room}}", "desc": "", "message": "{{room}}"]
                        #expect(try await stack.portal.call(.POST, "/template", template).status == 201)
                        _ = try await stack.portal.accepted(scheduled)
                        for number in 0..<Self.sent {
                            let key = try await stack.portal.accepted(subject.message(title: "\(number)"), key: "\(number)")
                            _ = try await stack.portal.message(key, hasState: "relayed")
                        }
                        let templates = try await shownTemplates(of: stack)
                        return (try await shownCube(of: stack), try await shownArchive(of: stack), templates, subject)
                    }
                    // A second time changes nothing.
                    for _ in 0..<2 {
                        let lines = try await migrate("mongodb", in: folder + "/one", url).lines
                        #expect(lines.contains { $0.hasPrefix("icube: 1 documents, digest ") })
                        #expect(lines.contains { $0.hasPrefix("messages: \(Self.sent + 1) messages, digest ") })
                    }
                    try carryToken(from: folder + "/one", to: folder + "/two")
                    let changed = try await withStack(in: folder + "/two", settings: ["MSI_DATABASE_URL": url]) { stack in
                        #expect(try await shownCube(of: stack) == cube)
                        #expect(try await shownArchive(of: stack) == messages)
                        #expect(try await shownTemplates(of: stack) == templates && templates["items"]?.array.count == 1)
                        let found = try await stack.portal.call(.GET, "/message?q=later&state=pending").json
                        #expect(found["messages"]?.array.count == 1)
                        // A retry of a post from before the move gets the first answer.
                        let again = try await stack.portal.post(subject.message(title: "7"), key: "7")
                        #expect(again["Idempotency-Replayed"] == "true")

                        let new = try await stack.portal.accepted(subject.message(title: "new"))
                        _ = try await stack.portal.message(new, hasState: "relayed")
                        _ = try await stack.portal.makeSubject("Alert")
                        return try await (shownCube(of: stack), shownArchive(of: stack))
                    }
                    for wrong in ["sqlite", "mongodb"] {
                        let refused = try await migrate(wrong, in: folder + "/one", url)
                        let remedy = wrong == "sqlite" ? "MSI_STATE_DIR" : "MSI_DATABASE_URL"
                        #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains(remedy) }, "\(refused)")
                    }
                    #expect(try await migrate("sqlite", in: folder + "/three", url).exitCode == 0)
                    try carryToken(from: folder + "/one", to: folder + "/three")
                    try await withStack(in: folder + "/three") { stack in
                        let moved = try await (shownCube(of: stack), shownArchive(of: stack))
                        #expect(moved == changed)
                    }
                }
            }
        }

        @Test("A migration says which setting or file is missing, and never shows a password")
        func refusals() async throws {
            try await withTemporaryFolder { folder in
                let none = try await migrate("mongodb", in: folder, nil)
                #expect(none.exitCode == 78 && none.lines.contains { $0.contains("MSI_DATABASE_URL") })
                let secret = "mongodb://ann:swordfish@127.0.0.1:1/campus?serverSelectionTimeoutMS=200"
                let empty = try await migrate("mongodb", in: folder, secret)
                #expect(empty.exitCode == 1 && empty.lines.contains { $0.contains("message-log.sqlite") })
                let away = try await migrate("sqlite", in: folder, secret)
                #expect(away.exitCode == 1 && away.lines.contains { $0.contains("unavailable") })
                #expect(!(empty.lines + away.lines).contains { $0.contains("swordfish") })
            }
        }

        @Test(
            "A migration is refused while a service uses the files, and a service while a migration does",
            arguments: ServiceEntry.all.filter(\.keepsData).map(\.executable))
        func aloneWithTheFiles(_ service: String) async throws {
            try await withTemporaryFolder { folder in
                let environment = ["MSI_STATE_DIR": folder]
                _ = try await withProgram(service, environment: environment) { program in
                    _ = try await program.line { $0.contains("ready") }
                    let refused = try await migrate("sqlite", in: folder, "mongodb://127.0.0.1:1/campus")
                    #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains("stop the services first") })
                }
                // The lock of a running migration.
                let lock = open(folder + "/data.lock", O_RDONLY | O_CLOEXEC)
                defer { close(lock) }
                #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
                let end = try await runProgram(service, environment: environment)
                #expect(end.exitCode == 1 && end.lines.contains { $0.contains("msi migrate is at work") }, "\(end.lines)")
            }
        }

        private func shownCube(of stack: Stack) async throws -> JSONValue {
            try await stack.portal.call(.GET, "/channel").json
        }

        private func shownTemplates(of stack: Stack) async throws -> JSONValue {
            try await stack.portal.call(.GET, "/template").json
        }

        private func shownArchive(of stack: Stack) async throws -> JSONValue? {
            try await stack.portal.call(.GET, "/message?limit=200").json["messages"]
        }

        private func migrate(_ target: String, in folder: String, _ url: String?) async throws -> ProgramEnd<Void> {
            try await msi(["migrate", "--to", target], in: folder, url.map { ["MSI_DATABASE_URL": $0] } ?? [:])
        }
    }
}
