import CommandBus
import MessageStorage
import Schemas
import TestSupport
import Testing

@testable import MessageLog

/// How the archive is kept from growing without end.
@Suite("Storage", .timeLimit(.minutes(1)))
struct StorageTests {
    @Test("at 90 % of the allowed size the log warns with the figure; at 100 % new messages are refused, and nothing else")
    func limit() async throws {
        let relay = RelayDouble()
        try await withTemporaryFolder { folder in
            let settings = ["MSI_MESSAGE_LOG_STORAGE_LIMIT": "512KiB"]
            let first = LogMessage.sample("first", idempotencyKey: "k")
            var bytes: Int64 = 0
            try await RunningMessageLog.with(in: folder, settings: settings) { log in
                _ = try await log.log(first)
                var refusal: CommandFailure?
                for _ in 0..<10_000 where refusal == nil {
                    do throws(CommandFailure) {
                        _ = try await log.client.request(LogMessage.sample(distribution: .information))
                    } catch {
                        refusal = error
                    }
                }
                #expect(refusal?.status == .storageFull)
                #expect(refusal?.message.contains("524288") == true)
                bytes = try #require(refusal?.message.firstMatch(of: /takes up (\d+) bytes/).flatMap { Int64($0.1) })
                #expect(log.process.log.contains("the archive is full: new messages are refused"))
                // A client that asks again for what is stored is answered, by either key.
                #expect(try await log.log(first).msiKey == first.msiKey)
                #expect(try await log.log(.sample("first", idempotencyKey: "k")).msiKey == first.msiKey)
                try await relay.run(in: folder) {
                    _ = try await log.wait(for: first.msiKey) { $0.state == .relayed }
                }
            }
            let larger = ["MSI_MESSAGE_LOG_STORAGE_LIMIT": "\(bytes * 100 / 94)"]
            try await RunningMessageLog.with(in: folder, settings: larger) { log in
                try await eventually { log.process.log.contains("the archive is nearly full") }
                #expect(log.process.log.firstMatch(of: /"percent":"9\d"/) != nil)
                _ = try await log.log(.sample("there is room again"))
            }
        }
    }

    @Test("the marks are told once each, and fine again only well below the brink")
    func marks() {
        var level = StorageLevel(limit: 1_000)
        let marks = [0, 899, 900, 950, 1_000, 2_000, 999, 870, 849, 100].map { level.measured($0) }
        #expect(marks == [nil, nil, .nearlyFull, nil, .full, nil, .nearlyFull, nil, .fine, nil])
        let full = level.measured(5_000)
        #expect(full == .full && level.percent == 500)
    }

    @Test("messages that ended longer ago than the configured age are removed, but none that is still to be relayed")
    func retention() async throws {
        let year: Int64 = 365 * 86_400_000
        let now = UnixMilliseconds.now
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            for number in 0..<450 { _ = try await store.insert(Self.message("\(number)", at: now - year, ended: now - year)) }
            let kept = [
                Self.message("waiting", at: now - year, ended: nil), Self.message("failed late", at: now - year, ended: now),
                Self.message("new", at: now, ended: now),
            ]
            for message in kept { _ = try await store.insert(message) }
            try store.close()
            try await RunningMessageLog.with(in: folder, settings: ["MSI_MESSAGE_RETENTION": "30"]) { log in
                try await eventually { log.process.log.contains("old messages removed") }
                let page = try await log.client.request(ListMessages(limit: 10))
                #expect(Set(page.messages.map(\.msiKey)) == Set(kept.map(\.msiKey)))
                expectCleanLog(of: log.process, secret: "Two\nlines", "retention")
            }
        }
    }

    private static func message(_ title: String, at timestamp: UnixMilliseconds, ended: UnixMilliseconds?) -> Message {
        var relay = RelayRecord(logged: .information, due: timestamp)
        if let ended {
            relay.state = .failed
            relay.nextAttempt = nil
            relay.ended = ended
        }
        return Message(
            msiKey: ObjectID(),
            draft: MessageDraft(
                title: title, desc: "", message: "Two\nlines", topicKey: .sample, distribution: .information),
            sender: "S", timestamp: timestamp, names: CubeNames(channel: "C", area: "A", subject: "S"),
            expires: .now + 86_400_000, relay: relay)
    }
}
