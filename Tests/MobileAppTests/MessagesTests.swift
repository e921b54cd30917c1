import GRDB
import TestSupport
import Testing

@testable import MobileApp

@Suite("The messages on a phone", .timeLimit(.minutes(10)))
struct MessagesTests {
    private func message(_ key: String, timestamp: Int64 = 0, title: String = "Title") -> StoredMessage {
        StoredMessage(
            msiKey: key, topicKey: "t", dist: "Information", title: title, desc: "", message: "A text.", timestamp: timestamp)
    }

    @Test("Corrections that concern no message are forgotten, those of kept messages are not")
    func oldCorrections() async throws {
        let phone = try TestPhone()
        let messages = phone.app.messages
        func add(_ key: String, corrects: String? = nil) async throws {
            var message = message(key, timestamp: phone.clock.now)
            message.corrects = corrects
            try await messages.add(message)
            phone.clock.advance(by: 1)
        }
        try await add("kept")
        try await add("correction", corrects: "kept")
        try await add("gone")
        try await add("earlier", corrects: "gone")
        try await add("latest", corrects: "gone")
        try await add("other", corrects: "unknown")
        for key in ["kept", "earlier"] { try await messages.keep(key) }
        phone.clock.advance(by: 36 * 86_400)
        for _ in 0..<2 { try await messages.clearOld() }
        let corrections = try await phone.database.db.read { db in
            try String.fetchSet(db, sql: "SELECT msi_key FROM Correction")
        }
        #expect(corrections == ["correction", "earlier", "latest"])
    }

    @Test("A database of a format that this version of the app does not know is refused, with its name and both numbers")
    func unknownFormat() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/app.sqlite"
            _ = try AppDatabase(path: path)
            try await DatabaseQueue(path: path).write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('2: more')") }
            let error = #expect(throws: DatabaseError.self) { try AppDatabase(path: path) }
            for part in [path, "the format 2", "it knows is 1"] { #expect(error?.message?.contains(part) == true) }
        }
    }

    @Test("What the student keeps and has read is in the file")
    func marks() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/phone.sqlite"
            let first = try TestPhone(path: path).app.messages
            try await first.add(message("a"))
            try await first.add(message("b"))
            try await first.keep("a")
            try await first.markRead("b")
            let second = try await TestPhone(path: path).app.messages.all()
            #expect(second.first { $0.msiKey == "a" }.map { [$0.isKept, $0.isRead] } == [true, false])
            #expect(second.first { $0.msiKey == "b" }.map { [$0.isKept, $0.isRead] } == [false, true])
        }
    }

    @Test("A search needs all words, in any case")
    func search() async throws {
        let messages = try TestPhone().app.messages
        try await messages.add(message("a", title: "Library opens LATE"))
        try await messages.add(message("b", title: "Storm"))
        #expect(try await messages.all(words: "late library").map(\.msiKey) == ["a"])
        #expect(try await messages.all(words: "late storm").isEmpty)
    }
}
