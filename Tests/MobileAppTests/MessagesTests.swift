import GRDB
import JSON
import TestSupport
import Testing

@testable import MobileApp

@Suite("The messages on a phone", .timeLimit(.minutes(10)))
struct MessagesTests {
    private func message(_ key: String, timestamp: Int64 = 0, topic: String = "t", title: String = "Title") -> StoredMessage {
        StoredMessage(
            msiKey: key, topicKey: topic, dist: "Information", title: title, desc: "", message: "A text.", timestamp: timestamp)
    }

    @Test("A correction marks the text that it corrects, in any order of arrival, also after it was deleted")
    func corrections() async throws {
        let phone = try TestPhone()
        let messages = phone.app.messages
        func message(_ key: String, at seconds: Int64, corrects: String? = nil) -> StoredMessage {
            StoredMessage(
                msiKey: key, topicKey: "t", dist: "Alert", title: key, desc: "d", message: "m",
                timestamp: phone.clock.now + seconds * 1_000, corrects: corrects)
        }
        func marks() async throws -> [String: String] {
            try await messages.all().reduce(into: [:]) { $0[$1.msiKey] = $1.correctedBy }
        }
        try await messages.add(message("second", at: 2, corrects: "first"))
        try await messages.add(message("first", at: 1))
        try await messages.add(message("other", at: 3))
        #expect(try await marks() == ["first": "second"])
        try await messages.add(message("third", at: 4, corrects: "first"))
        #expect(try await marks() == ["first": "third", "second": "third"])
        #expect(try await messages.all().map(\.corrects) == ["first", nil, "first", nil])
        let removed = try #require(try await messages.remove("third"))
        #expect(try await marks() == ["first": "third", "second": "third"])
        try await messages.restore(removed)
        #expect(try await messages.all().map(\.corrects) == ["first", nil, "first", nil])
    }

    @Test("A correction whose sender's clock is behind marks the old text, too")
    func correctionByAnotherClock() async throws {
        let messages = try TestPhone().app.messages
        try await messages.add(message("first", timestamp: 2_000))
        var correction = message("second", timestamp: 1_000)
        correction.corrects = "first"
        try await messages.add(correction)
        #expect(try await messages.all().map(\.correctedBy) == ["second", nil])
    }

    @Test("A kept message stays marked as corrected, however old; what concerns no message is forgotten")
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
        try await add("former", corrects: "gone")
        try await add("latest", corrects: "gone")
        try await add("other", corrects: "unknown")
        for key in ["kept", "former"] { try await messages.keep(key) }
        phone.clock.advance(by: 36 * 86_400)
        for _ in 0..<2 { try await messages.clearOld() }
        let marks = try await messages.all().map { [$0.msiKey, $0.correctedBy] }
        #expect(marks == [["former", "latest"], ["kept", "correction"]])
        let corrections = try await phone.database.db.read { db in
            try String.fetchSet(db, sql: "SELECT msi_key FROM Correction")
        }
        #expect(corrections == ["correction", "former", "latest"])
    }

    @Test("An app that is installed anew has nothing of the former one")
    func cleared() async throws {
        let phone = try TestPhone()
        let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced")
        phone.hub.set([storms])
        try await phone.app.messages.add(message("a", timestamp: phone.clock.now))
        try await phone.running { try await phone.look() }
        try await phone.app.receipts.send()
        try await phone.database.clear()
        let other = MobileApp(platform: phone.platform, database: phone.database)
        #expect(try await !other.isInitialized())
        #expect(try await other.messages.all().isEmpty)
        #expect(try await other.subscriptions.all().isEmpty)
        // Not even as a deleted one.
        #expect(try await other.messages.add(message("a", timestamp: phone.clock.now)) == .added)
        try await other.receipts.send()
        #expect(Set(phone.hub.reports.map { $0["installation"]?.string }).count == 2)
    }

    @Test("A message is stored once, and the newest comes first")
    func once() async throws {
        let messages = try TestPhone().app.messages
        #expect(try await messages.add(message("a", timestamp: 1)) == .added)
        #expect(try await messages.add(message("b", timestamp: 3)) == .added)
        #expect(try await messages.add(message("c", timestamp: 2)) == .added)
        #expect(try await messages.add(message("b", timestamp: 3)) == .dropped)
        #expect(try await messages.all().map(\.msiKey) == ["b", "c", "a"])
        #expect(try await messages.exists("b"))
        #expect(try await !messages.exists("d"))
    }

    @Test("A deleted message does not return with a later copy, unless the deletion is taken back")
    func deletion() async throws {
        let messages = try TestPhone().app.messages
        try await messages.add(message("a"))
        try await messages.keep("a")
        let removed = try #require(try await messages.remove("a"))
        #expect(try await messages.remove("a") == nil)
        #expect(try await messages.add(message("a")) == .dropped)
        #expect(try await messages.all().isEmpty)
        try await messages.restore(removed)
        try await messages.restore(removed)
        let restored = try await messages.all()
        #expect(restored.map(\.msiKey) == ["a"] && restored[0].isKept)
    }

    @Test("What the student keeps and has read is remembered after a restart")
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

    @Test(
        "Clearing keeps seven local days, today included, and what the student keeps",
        arguments: [
            // Berlin at noon; the change to winter time was on 25 October 2026 at 1:00 UTC.
            (now: "2026-11-24T11:00:00Z", first: "2026-11-17T23:00:00Z"),
            (now: "2026-10-28T11:00:00Z", first: "2026-10-21T22:00:00Z"),
            // Just before and after midnight.
            (now: "2026-11-24T22:59:59Z", first: "2026-11-17T23:00:00Z"),
            (now: "2026-11-24T23:00:00Z", first: "2026-11-18T23:00:00Z"),
        ])
    func clearing(now: String, first: String) async throws {
        let change = milliseconds("2026-10-25T01:00:00Z")
        let phone = try TestPhone(clock: TestClock(now: milliseconds(now)) { $0 < change ? 7_200 : 3_600 })
        let boundary = milliseconds(first)
        let messages = phone.app.messages
        try await messages.add(message("old", timestamp: boundary - 1))
        try await messages.add(message("kept", timestamp: boundary - 1))
        try await messages.add(message("first", timestamp: boundary))
        try await messages.keep("kept")
        #expect(try await messages.clearOld() == 1)
        #expect(Set(try await messages.all().map(\.msiKey)) == ["kept", "first"])
        // A copy that comes late does not bring it back.
        #expect(try await messages.add(message("old", timestamp: boundary - 1)) == .dropped)
    }

    @Test("A search needs all words, in any case; a channel shows its own messages")
    func search() async throws {
        let messages = try TestPhone().app.messages
        let channel = String(repeating: "a", count: 24)
        try await messages.add(message("a", topic: channel + "-b-c", title: "Library opens LATE"))
        try await messages.add(message("b", topic: String(repeating: "b", count: 24) + "-b-c", title: "Storm"))
        #expect(try await messages.all(words: "late library").map(\.msiKey) == ["a"])
        #expect(try await messages.all(words: "late storm").isEmpty)
        #expect(try await messages.all(channel: channel).map(\.msiKey) == ["a"])
    }

    @Test("A message whose text FCM could not carry is completed, and never the other way round")
    func completion() async throws {
        let messages = try TestPhone().app.messages
        var short = message("a")
        short.message = ""
        short.omitted = ["message"]
        #expect(try await messages.add(short) == .added)
        #expect(try await messages.add(short) == .dropped)
        try await messages.keep("a")
        #expect(try await messages.add(message("a")) == .completed)
        #expect(try await messages.add(short) == .dropped)
        let stored = try #require(try await messages.all().first)
        #expect(stored.message == "A text." && stored.omitted.isEmpty && stored.isKept)
    }
}
