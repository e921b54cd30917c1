import Base
import Archive
import Schemas
import Store
import TestSupport
import Testing

@testable import Operator

/// Copies of one store's data to another.
@Suite("Migration")
struct MigrationTests {
    private struct Stores {
        let archive: SQLiteMessageStore

        init(_ folder: String) throws {
            archive = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
        }

        func close() async throws {
            try await archive.close()
        }
    }

    private func withStores(_ body: (_ source: Stores, _ target: Stores) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let (source, target) = (try Stores(folder + "/source"), try Stores(folder + "/target"))
            try await body(source, target)
            try await source.close()
            try await target.close()
        }
    }

    private func migrate(_ source: Stores, to target: Stores) async throws -> [String] {
        var lines: [String] = []
        let moves: [any StoreMove] = [
            ArchiveMove(source: source.archive, target: target.archive, otherTarget: "another one")
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
            content: MessageContent(
                title: "T\(number)", desc: "d", message: "m", topicKey: topic, distribution: .alert, ttl: 60, sendAt: 5,
                drill: true, follows: topic.area, template: topic.subject, values: ["room": "B 12"]),
            sender: "S", timestamp: UnixMilliseconds(rawValue: Int64(number)),
            names: CubeNames(channel: "C", area: "A", subject: "S"), expires: 9,
            idempotencyKey: key, relay: RelayRecord(logged: .alert, due: 5, lease: Lease(owner: "o", until: 7)))
    }

    @Test("Everything is copied unchanged, and reported with count and digest")
    func copy() async throws {
        try await withStores { source, target in
            for number in 0..<449 { _ = try await source.archive.insert(Self.message(number, key: "\(number)")) }
            var corrected = Self.message(0)
            (corrected.content.correction, corrected.approval) = (true, true)
            (corrected.relay.attempts, corrected.relay.accepted) = (1, 7)
            _ = try await source.archive.insert(corrected)
            try await report(corrected, to: source)
            let lines = try await migrate(source, to: target)
            let (copied, original) = try await (everything(of: target.archive), everything(of: source.archive))
            #expect(copied.count == 450 && copied == original && copied.contains(corrected))
            #expect(
                try await target.archive.receipts(of: copied.map(\.msiKey)) == [
                    corrected.msiKey: MessageReceipts(received: 1, opened: 0)
                ])
            #expect(lines.contains { $0.hasPrefix("messages: 450 messages, digest ") })
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

    @Test("Messages of one millisecond keep their order, even after an interrupted copy")
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
            // Phones report further.
            try await report(messages[3], to: source)
            // Somebody edits a message that was copied.
            try await source.archive.edit(messages[5].msiKey, audit: nil) { message in
                (message.content.title, message.content.sendAt, message.expires) = ("edited", 7, 10)
                message.relay.leaveTrace(.edit, by: "ann", at: 6)
            }
            _ = try await migrate(source, to: target)
            let edited = try await target.archive.message(messages[5].msiKey)
            #expect(edited?.title == "edited")
            #expect(try await edited == source.archive.message(messages[5].msiKey))
            #expect(try await target.archive.receipts(of: [messages[3].msiKey])[messages[3].msiKey]?.received == 2)
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
        try await expectRefusal { source, target in
            var message = Self.message(2)
            _ = try await source.archive.insert(message)
            message.content.title = "changed"
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
            try await prepare(source, target)
            let before = try await everything(of: target.archive)
            let refusal = try await #require(throws: MigrationFailure.self) { try await migrate(source, to: target) }
            #expect(refusal.description.contains("Nothing was written"))
            #expect(try await everything(of: target.archive) == before)
        }
    }

    @Test("A cube in MongoDB that no cube service has opened is copied, and one in the target is not mixed with another")
    func unopenedCube() async throws {
        let url = try MongoURL(try #require(try await StoreKind.mongodb.newDatabaseURL()))
        let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
        try await database.run { connection in
            _ = try connection.insert([["_id": ObjectID().bson, "name": "theirs"]], into: "icube")
        }
        func migrate(to target: MovePlaces.Target, in folder: String) async throws -> [String] {
            var (lines, moves): ([String], [any StoreMove]) = ([], [])
            let places = MovePlaces(folder: folder, url: url, target: target)
            for store in RegisteredStores.all { moves.append(try await store.open(places)) }
            try await perform {
                try await Migration(moves: moves, report: { lines.append($0) }).run()
            } finally: {
                for move in moves { try await move.close() }
            }
            return lines
        }
        try await perform {
            try await withTemporaryFolder { folder in
                let lines = try await migrate(to: .sqlite, in: folder)
                #expect(lines.contains("icube: 1 copied now"), "\(lines)")
            }
            try await withTemporaryFolder { folder in
                let refusal = await #expect(throws: MigrationFailure.self) { try await migrate(to: .mongodb, in: folder) }
                #expect(refusal?.description.contains("Nothing was written") == true)
            }
            #expect(try await database.run { try $0.find([:], in: "icube").count } == 1)
        } finally: {
            await database.close()
        }
    }
}
