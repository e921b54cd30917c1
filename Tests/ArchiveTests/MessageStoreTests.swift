import Schemas
import TestSupport
import Testing
import Base
import Store

@testable import Archive

/// The requirements of every archive, for both databases.
@Suite("Message store", .timeLimit(.minutes(10)))
struct MessageStoreTests {
    static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    static func message(
        _ title: String = "T", text: String = "😀\n", at timestamp: UnixMilliseconds = 1_000,
        expires: UnixMilliseconds = 9_000_000, key: String? = nil, sender: String = "Communicator", topic: TopicKey = topic,
        distribution: Distribution = .alert, sendAt: UnixMilliseconds? = nil, follows: ObjectID? = nil, lease: Lease? = nil,
        _ change: (inout MessageContent) -> Void = { _ in }
    ) -> Message {
        var draft = MessageContent(
            title: title, desc: "ابق \"q\"", message: text, topicKey: topic, distribution: distribution, sendAt: sendAt,
            follows: follows)
        change(&draft)
        return Message(
            msiKey: ObjectID(), content: draft, sender: sender, timestamp: timestamp,
            names: CubeNames(channel: "C", area: "A", subject: "S"), expires: expires, idempotencyKey: key,
            relay: RelayRecord(logged: distribution, due: sendAt ?? timestamp, lease: lease))
    }

    /// A claim of alerts with no limit for a single key.
    static func claim(_ limit: Int) -> Claim {
        Claim(.high, limit: limit, maxPerKey: limit)
    }

    /// Ends messages, by default as relayed.
    func finish(
        _ messages: [Message], in store: any MessageStore, as state: RelayState = .relayed, at ended: UnixMilliseconds = 1
    ) async throws {
        for message in messages {
            try await store.update(message.msiKey) { record, _ in
                record.state = state
                record.nextAttempt = nil
                record.ended = ended
            }
        }
    }

    func titles(_ store: any MessageStore, _ change: (inout MessageFilter) -> Void) async throws -> [String] {
        var filter = MessageFilter()
        change(&filter)
        return try await store.page(filter, before: nil, limit: 100).map(\.title)
    }

    /// The titles of all messages that a filter selects, read page by page.
    func walk(_ store: any MessageStore, _ filter: MessageFilter = MessageFilter(), limit: Int) async throws -> [String] {
        var (seen, cursor) = ([String](), PageCursor?.none)
        while case let page = try await store.page(filter, before: cursor, limit: limit), let last = page.last {
            seen += page.map(\.title)
            cursor = PageCursor(timestamp: last.timestamp, msiKey: last.msiKey)
        }
        return seen
    }

    @Test("A stored message that would be refused today is still read and relayed", arguments: StoreKind.allCases)
    func earlierRules(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message { $0.options = DeliveryOptions(image: "https://", collapseKey: "two words") }
            _ = try await store.insert(message)
            #expect(try await store.message(message.msiKey) == message)
            let claimed = try await store.claim(
                Claim(message.distribution.urgency, limit: 1, maxPerKey: 1), lease: Lease(owner: "o", until: .max), now: .now)
            #expect(claimed.map(\.message?.content.options) == [message.content.options])
        }
    }

    @Test("A message with the same msi_key or idempotency key is stored once, also concurrently", arguments: StoreKind.allCases)
    func idempotent(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message(key: "k")
            let results = try await concurrently(40) { number in
                try await store.insert(number % 2 == 0 ? message : Self.message("other", key: "k")) == nil
            }
            #expect(results.filter { $0 }.count == 1)
            #expect(try await store.page(MessageFilter(), before: nil, limit: 10).count == 1)
            // Another sender may use the same key.
            #expect(try await store.insert(Self.message(key: "k", sender: "Super User")) == nil)
            #expect(try await store.message(of: "Super User", idempotencyKey: "k")?.sender == "Super User")
            #expect(try await store.message(of: "Nobody", idempotencyKey: "k") == nil)
        }
    }

    @Test("Concurrent changes of a record are all kept, and a refused one changes nothing", arguments: StoreKind.allCases)
    func updates(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message()
            _ = try await store.insert(message)
            try await concurrently(20) { _ in try await store.update(message.msiKey) { record, _ in record.attempts += 1 } }
            #expect(try await store.message(message.msiKey)?.relay.attempts == 20)
            await #expect(throws: CommandFailure(.conflict, "no")) {
                try await store.update(message.msiKey) { record, stored in
                    #expect(stored.msiKey == message.msiKey)
                    record.attempts = 7
                    throw CommandFailure(.conflict, "no")
                }
            }
            #expect(try await store.message(message.msiKey)?.relay.attempts == 20)
            #expect(try await store.update(ObjectID()) { record, _ in record.attempts += 1 } == nil)
        }
    }

    @Test("The outcomes of all components, and the trace, are read back as they were written", arguments: StoreKind.allCases)
    func record(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message()
            _ = try await store.insert(message)
            let record = RelayRecord(
                state: .recalled, attempts: 3, nextAttempt: nil, lease: nil, ended: 7,
                components: [
                    ComponentRecord(component: .notification, state: .accepted, name: "projects/p/messages/1", acceptedAt: 4),
                    ComponentRecord(
                        component: .data, state: .recalled,
                        error: DeliveryError(class: .retryable, code: "QUOTA", message: "wait", retryAfter: 5_000)),
                ],
                trace: [
                    Intervention(action: .retry, at: 5, by: "Ann"),
                    Intervention(action: .recall, at: 6, by: "Ben", reason: "The room is wrong.\n🎓"),
                ])
            let updated = try await store.update(message.msiKey) { stored, _ in stored = record }
            #expect(updated?.relay == record)
            #expect(try await store.message(message.msiKey)?.relay == record)
        }
    }

    @Test("Old final messages of one topic are removed, and those of others stay", arguments: StoreKind.allCases)
    func retentionOfTopic(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let origin = MessageOrigin(topic: topic, sender: "canary")
            let old = Self.message("old", at: 100, sender: "canary", topic: topic, distribution: .information)
            let others = [
                Self.message("another topic", at: 101, sender: "canary", distribution: .information),
                Self.message("another sender", at: 102, topic: topic, distribution: .information),
                Self.message("an alert", at: 103, sender: "canary", topic: topic),
                Self.message("new", at: 200, sender: "canary", topic: topic, distribution: .information),
            ]
            for message in others + [old] { _ = try await store.insert(message) }
            try await finish(others + [old], in: store)
            #expect(try await store.removeArchived(of: origin, before: 150, limit: 10) == 1)
            #expect(try await titles(store) { _ in } == others.reversed().map(\.title))
        }
    }

    @Test(
        "Old final messages are removed, the oldest first, and the others stay",
        arguments: StoreKind.allCases)
    func retention(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let old = (0..<5).map { Self.message("old \($0)", text: "word", at: UnixMilliseconds(rawValue: Int64(100 + $0))) }
            let outstanding = Self.message("outstanding", text: "word", at: 50)
            let late = Self.message("ended later", text: "word", at: 60)
            let new = Self.message("new", text: "word", at: 1_000)
            for message in old + [outstanding, late, new] { _ = try await store.insert(message) }
            try await finish(old + [new], in: store)
            try await finish([late], in: store, at: 1_000)

            #expect(try await store.removeArchived(before: 1_000, limit: 3) == 3)
            #expect(try await titles(store) { _ in } == ["new", "old 4", "old 3", "ended later", "outstanding"])
            #expect(try await store.removeArchived(before: 1_000, limit: 3) == 2)
            #expect(try await store.removeArchived(before: 1_000, limit: 3) == 0)
            #expect(try await titles(store) { $0.text = SearchQuery("word") } == ["new", "ended later", "outstanding"])
            #expect(try await store.message(old[0].msiKey) == nil)
        }
    }

    @Test("The size grows with the messages", arguments: StoreKind.allCases)
    func size(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let before = try await store.size()
            let text = String(repeating: "lorem ipsum ", count: 120)
            for number in 0..<50 {
                _ = try await store.insert(Self.message("\(number)", text: text, at: UnixMilliseconds(rawValue: Int64(number))))
            }
            let after = try await store.size()
            #expect(after - before > 50 * 1_000, "\(before) to \(after)")
        }
    }
}
