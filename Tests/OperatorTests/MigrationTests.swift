import CubeStorage
import JSON
import MessageStorage
import Schemas
import Storage
import TestSupport
import Testing
import Time

@testable import Operator

/// Copies of one store's data to another.
@Suite("Migration")
struct MigrationTests {
    private struct Stores {
        let cube: SQLiteCubeStore
        let archive: SQLiteMessageStore

        init(_ folder: String) throws {
            cube = try SQLiteCubeStore(path: folder + "/cube.sqlite", sizeLimit: CubeSizeLimit(bytes: .max), logger: quietLogger)
            archive = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
        }

        func close() throws {
            try cube.close()
            try archive.close()
        }
    }

    private func withStores(_ body: (_ source: Stores, _ target: Stores) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let (source, target) = (try Stores(folder + "/source"), try Stores(folder + "/target"))
            try await body(source, target)
            try source.close()
            try target.close()
        }
    }

    private func migrate(_ source: Stores, to target: Stores) async throws -> [String] {
        var lines: [String] = []
        let moves: [any StoreMove] = [
            CubeMove(source: source.cube, target: target.cube, otherTarget: "another one"),
            ArchiveMove(source: source.archive, target: target.archive, otherTarget: "another one"),
        ]
        try await Migration(moves: moves, report: { lines.append($0) }).run()
        return lines
    }

    private func everything(of archive: SQLiteMessageStore) async throws -> [Message] {
        try await archive.page(MessageFilter(), before: nil, limit: 1_000)
    }

    private static func message(_ number: Int, key: String? = nil) -> Message {
        let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        return Message(
            msiKey: ObjectID(),
            draft: MessageDraft(
                title: "T\(number)", desc: "d", message: "m", topicKey: topic, distribution: .alert, ttl: 60, sendAt: 5,
                drill: true, follows: topic.area, template: topic.subject, values: ["room": "B 12"]),
            sender: "S", timestamp: UnixMilliseconds(rawValue: Int64(number)),
            names: CubeNames(channel: "C", area: "A", subject: "S"), expires: 9,
            idempotencyKey: key, relay: RelayRecord(logged: .alert, due: 5, lease: Lease(owner: "o", until: 7)))
    }

    @Test("Everything is copied unchanged, and reported with count and digest")
    func copy() async throws {
        try await withStores { source, target in
            let channel = try await source.cube.add(AddChannel(channel: NamedDraft(name: "C", desc: "c")), by: .program).value
            _ = try await source.cube.add(AddArea(channelID: channel.id, area: NamedDraft(name: "A", desc: "a")), by: .program)
            for number in 0..<449 { _ = try await source.archive.insert(Self.message(number, key: "\(number)")) }
            var corrected = Self.message(0)
            (corrected.correction, corrected.approval, corrected.relay.attempts, corrected.relay.accepted) = (true, true, 1, 7)
            _ = try await source.archive.insert(corrected)
            try await report(corrected, to: source)
            let retry = MessageAudit(.retry, by: AuditAuthor(actor: "ann"))
            let audited = try #require(try await source.archive.page(MessageFilter(), before: nil, limit: 1).first)
            try await source.archive.update(audited.msiKey, audit: retry) { record, _ in record.attempts += 1 }
            let lines = try await migrate(source, to: target)
            #expect(try await target.cube.snapshot() == source.cube.snapshot())
            let entries = try await target.cube.pendingAudit(limit: 9)
            #expect(entries.count == 2)
            #expect(try await entries == source.cube.pendingAudit(limit: 9))
            let pending = try await target.archive.pendingAudit(limit: 9)
            #expect(pending.map(\.id) == [retry.id])
            #expect(try await pending == source.archive.pendingAudit(limit: 9))
            let (copied, original) = try await (everything(of: target.archive), everything(of: source.archive))
            #expect(copied.count == 450 && copied == original && copied.contains(corrected))
            #expect(
                try await target.archive.receipts(of: copied.map(\.msiKey)) == [
                    corrected.msiKey: MessageReceipts(received: 1, opened: 0)
                ])
            #expect(lines.contains { $0.hasPrefix("messages: 450 messages, digest ") })
        }
    }

    @Test("A migration may be repeated after entries of the source were forwarded to the audit log")
    func forwardedBetween() async throws {
        try await withStores { source, target in
            _ = try await source.cube.add(AddChannel(channel: NamedDraft(name: "C", desc: "c")), by: .program)
            _ = try await source.archive.insert(Self.message(1), audit: MessageAudit(.send, by: AuditAuthor(actor: "ann")))
            _ = try await migrate(source, to: target)
            for store in [source.cube, source.archive] as [any AuditSource] {
                try await store.acknowledgeAudit(try await store.pendingAudit(limit: 9))
            }
            _ = try await migrate(source, to: target)
            #expect(try await target.cube.pendingAudit(limit: 9).count == 1)
            #expect(try await target.archive.pendingAudit(limit: 9).count == 1)
        }
    }

    @Test("Pushes are copied unchanged, updated, and never reverted")
    func pushes() async throws {
        try await withStores { source, target in
            let pushes = (0..<120).map { number in
                Push(
                    sender: "people", idempotencyKey: "\(number)", transport: .fcm, fairnessKey: "f",
                    message: ["data": ["a": "b"]],
                    urgency: .high, logged: UnixMilliseconds(rawValue: Int64(number)), expires: 9,
                    relay: PushRecord(logged: [.token("a"), .token("b")], due: 5))
            }
            for push in pushes { _ = try await source.archive.insert(push) }
            for push in pushes[..<10] { _ = try await target.archive.insert(push) }
            try await source.archive.update(push: pushes[3].id) { record, _ in
                (record.attempts, record.recipients[0].state, record.recipients[0].name) = (1, .accepted, "n")
            }
            let lines = try await migrate(source, to: target)
            #expect(lines.last?.hasPrefix("pushes: 120 pushes, digest ") == true)
            for push in pushes {
                let copy = try await target.archive.push(push.id)
                #expect(try await copy == source.archive.push(push.id))
            }
            try await target.archive.update(push: pushes[5].id) { record, _ in
                (record.state, record.attempts, record.nextAttempt) = (.relayed, 1, nil)
                for index in record.recipients.indices { record.recipients[index].state = .accepted }
            }
            let refusal = try await #require(throws: MigrationFailure.self) { try await migrate(source, to: target) }
            #expect(refusal.description.contains("push \(pushes[5].id)") && refusal.description.contains("Nothing was written"))
        }
    }

    @Test("Messages of one millisecond keep their order, also after an interrupted copy")
    func order() async throws {
        try await withStores { source, target in
            let messages = (0..<300).map { Self.message($0 / 100) }
            for message in messages.shuffled() { _ = try await source.archive.insert(message) }
            for message in messages.shuffled()[..<50] { _ = try await target.archive.insert(message) }
            _ = try await migrate(source, to: target)
            for limit in [7, 1_000] {
                var pages: [[ObjectID]] = []
                for archive in [source.archive, target.archive] {
                    var (seen, cursor): ([ObjectID], PageCursor?) = ([], nil)
                    while case let page = try await archive.page(MessageFilter(), before: cursor, limit: limit),
                        let last = page.last
                    {
                        seen += page.map(\.msiKey)
                        cursor = PageCursor(timestamp: last.timestamp, msiKey: last.msiKey)
                    }
                    pages.append(seen)
                }
                #expect(pages[0].count == 300 && pages[0] == pages[1])
            }
        }
    }

    @Test("An interrupted copy is continued, and later changes are copied as well")
    func resume() async throws {
        try await withStores { source, target in
            let messages = (0..<20).map { Self.message($0) }
            for message in messages { _ = try await source.archive.insert(message) }
            for message in messages[..<7] { _ = try await target.archive.insert(message) }
            try await source.archive.update(messages[3].msiKey) { record, _ in record.attempts = 9 }
            try await report(messages[3], to: source)
            let lines = try await migrate(source, to: target)
            #expect(lines.contains { $0.hasPrefix("messages: 13 copied now") })
            #expect(try await target.archive.message(messages[3].msiKey)?.relay.attempts == 9)
            _ = try await migrate(source, to: target)
            // Phones report further, and a relayed message of a former version gets its place.
            try await report(messages[3], to: source)
            try await source.archive.update(messages[4].msiKey) { record, _ in
                (record.state, record.nextAttempt) = (.relayed, nil)
            }
            try await target.archive.update(messages[4].msiKey) { record, _ in
                (record.state, record.nextAttempt) = (.relayed, nil)
            }
            try await source.archive.update(messages[4].msiKey) { record, _ in record.accepted = 8 }
            _ = try await migrate(source, to: target)
            #expect(try await target.archive.receipts(of: [messages[3].msiKey])[messages[3].msiKey]?.received == 2)
            #expect(try await target.archive.message(messages[4].msiKey)?.relay.accepted == 8)
        }
    }

    private func report(_ message: Message, to stores: Stores) async throws {
        let report = AddReceipts(installation: ObjectID(), report: 1, received: [message.msiKey], opened: [])
        try await stores.archive.add([report], now: 5)
    }

    @Test("A copy in the wrong direction, or again after the switch, reverts no message")
    func backwards() async throws {
        var relayed = Self.message(0).relay
        (relayed.nextAttempt, relayed.lease) = (nil, nil)
        var recalled = relayed
        (relayed.state, relayed.attempts) = (.relayed, 1)
        for index in relayed.components.indices { relayed.components[index].state = .accepted }
        (recalled.state, recalled.trace) = (.recalled, [Intervention(action: .recall, at: 7, by: "ann")])
        for index in recalled.components.indices { recalled.components[index].state = .recalled }
        for further in [relayed, recalled] {
            try await withStores { source, target in
                let messages = (0..<5).map { Self.message($0) }
                for message in messages { _ = try await source.archive.insert(message) }
                _ = try await migrate(source, to: target)
                try await target.archive.update(messages[2].msiKey) { record, _ in record = further }
                let refusal = try await #require(throws: MigrationFailure.self) { try await migrate(source, to: target) }
                #expect(refusal.description.contains("\(messages[2].msiKey)"))
                #expect(refusal.description.contains("copy to another one"))
                #expect(try await target.archive.message(messages[2].msiKey)?.relay == further)
            }
        }
    }

    @Test("A copy in the wrong direction loses no receipts")
    func backwardsReceipts() async throws {
        try await withStores { source, target in
            let message = Self.message(1)
            _ = try await source.archive.insert(message)
            _ = try await migrate(source, to: target)
            try await report(message, to: target)
            let refusal = try await #require(throws: MigrationFailure.self) { try await migrate(source, to: target) }
            #expect(refusal.description.contains("\(message.msiKey)"))
            #expect(try await target.archive.receipts(of: [message.msiKey])[message.msiKey]?.received == 1)
        }
    }

    @Test("A target with other data is refused, and nothing is written to it")
    func otherTarget() async throws {
        try await expectRefusal { _, target in _ = try await target.archive.insert(Self.message(2)) }
        try await expectRefusal { _, target in
            _ = try await target.cube.add(AddChannel(channel: NamedDraft(name: "Theirs", desc: "")), by: .program)
        }
        try await expectRefusal { source, target in
            var message = Self.message(2)
            _ = try await source.archive.insert(message)
            message.title = "changed"
            _ = try await target.archive.insert(message)
        }
        // The same key for another message of the same sender.
        try await expectRefusal { source, target in
            _ = try await source.archive.insert(Self.message(2, key: "k"))
            _ = try await target.archive.insert(Self.message(3, key: "k"))
        }
    }

    /// Migrates to a target that lacks messages and contains a conflicting one, and checks that the target is unchanged.
    private func expectRefusal(_ prepare: (_ source: Stores, _ target: Stores) async throws -> Void) async throws {
        try await withStores { source, target in
            for number in 0..<3 { _ = try await source.archive.insert(Self.message(100 + number)) }
            _ = try await source.cube.add(AddChannel(channel: NamedDraft(name: "Ours", desc: "")), by: .program)
            try await prepare(source, target)
            let before = try await (target.cube.snapshot(), everything(of: target.archive))
            let refusal = try await #require(throws: MigrationFailure.self) { try await migrate(source, to: target) }
            #expect(refusal.description.contains("Nothing was written"))
            let after = try await (target.cube.snapshot(), everything(of: target.archive))
            #expect(after == before)
        }
    }
}
