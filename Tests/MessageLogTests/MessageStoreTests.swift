import Schemas
import TestSupport
import Testing

@testable import MessageLog

/// What every archive has to do, whatever database is behind it.
@Suite("Message store")
struct MessageStoreTests {
    private func withStore<Result>(_ body: (any MessageStore) async throws -> Result) async throws -> Result {
        try await withTemporaryFolder { folder in
            let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
            let result = try await body(store)
            try store.close()
            return result
        }
    }

    private static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private static func message(
        _ title: String = "T", at timestamp: UnixMilliseconds = 1_000, key: String? = nil, sender: String = "Communicator",
        lease: Lease? = nil
    ) -> Message {
        Message(
            msiKey: ObjectID(),
            draft: MessageDraft(
                title: title, desc: "ابق \"q\"", message: "😀\n", topicKey: topic, distribution: .alert),
            sender: sender, timestamp: timestamp, names: CubeNames(channel: "C", area: "A", subject: "S"), expires: 9_000_000,
            idempotencyKey: key, relay: RelayRecord(logged: .alert, at: timestamp, lease: lease))
    }

    @Test("a message is read back as it was stored")
    func roundTrip() async throws {
        try await withStore { store in
            let message = Self.message(key: "k", lease: Lease(owner: "o", until: 5))
            let known = try await store.insert(message)
            #expect(known == nil)
            #expect(try await store.message(message.msiKey) == message)
            #expect(try await store.message(ObjectID()) == nil)
        }
    }

    @Test("the same msi_key or idempotency key is stored once, also when they come at once")
    func idempotent() async throws {
        try await withStore { store in
            let message = Self.message(key: "k")
            let results = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await store.insert(message) == nil }
                    group.addTask { try await store.insert(Self.message("other", key: "k")) == nil }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.filter { $0 }.count == 1)
            #expect(try await store.page(before: nil, limit: 10).count == 1)
            // A key is its sender's own.
            #expect(try await store.insert(Self.message(key: "k", sender: "Super User")) == nil)
            #expect(try await store.message(of: "Super User", idempotencyKey: "k")?.sender == "Super User")
            #expect(try await store.message(of: "Nobody", idempotencyKey: "k") == nil)
        }
    }

    @Test("pages go from the newest to the oldest, without gaps or doubles, also among equal timestamps")
    func pages() async throws {
        try await withStore { store in
            var stored: [Message] = []
            for number in 0..<25 {
                let message = Self.message("\(number)", at: Int64(1_000 + number / 5))
                _ = try await store.insert(message)
                stored.append(message)
            }
            var seen: [ObjectID] = []
            var cursor: PageCursor?
            while case let page = try await store.page(before: cursor, limit: 4), let last = page.last {
                seen += page.map(\.msiKey)
                cursor = PageCursor(timestamp: last.timestamp, msiKey: last.msiKey)
                // What comes in meanwhile belongs to the first page.
                _ = try await store.insert(Self.message("new", at: 5_000))
            }
            let expected = stored.sorted { ($0.timestamp, $0.msiKey) > ($1.timestamp, $1.msiKey) }.map(\.msiKey)
            #expect(seen == expected)
        }
    }

    @Test("of many claimants at once each message has one; a lease that is over frees it")
    func claims() async throws {
        try await withStore { store in
            for number in 0..<50 { _ = try await store.insert(Self.message("\(number)")) }
            let claimed = try await withThrowingTaskGroup(of: [Message].self) { group in
                for owner in 0..<10 {
                    group.addTask {
                        try await store.claim(Lease(owner: "\(owner)", until: 10_000), limit: 8, now: 2_000)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claimed.count == 50)
            #expect(Set(claimed.map(\.msiKey)).count == 50)
            #expect(claimed.allSatisfy { $0.relay.lease?.until == 10_000 })
            #expect(try await store.claim(Lease(owner: "late", until: 20_000), limit: 100, now: 9_999).isEmpty)
            #expect(try await store.claim(Lease(owner: "late", until: 20_000), limit: 100, now: 10_000).count == 50)
            try await store.releaseLeases(of: "late")
            #expect(try await store.claim(Lease(owner: "next", until: 30_000), limit: 100, now: 10_001).count == 50)
        }
    }

    @Test("only what is due is claimed, the longest due first, and never what is final")
    func due() async throws {
        try await withStore { store in
            let late = Self.message("late", at: 3_000)
            let early = Self.message("early", at: 1_000)
            let done = Self.message("done", at: 500)
            for message in [late, early, done] { _ = try await store.insert(message) }
            try await store.update(done.msiKey) { record in
                record.state = .relayed
                record.nextAttempt = nil
            }
            let lease = Lease(owner: "o", until: 10_000)
            #expect(try await store.claim(lease, limit: 5, now: 999).isEmpty)
            #expect(try await store.claim(lease, limit: 1, now: 3_000).map(\.title) == ["early"])
            #expect(try await store.claim(lease, limit: 5, now: 3_000).map(\.title) == ["late"])
        }
    }

    @Test("changes of a record at the same time are all kept")
    func updates() async throws {
        try await withStore { store in
            let message = Self.message()
            _ = try await store.insert(message)
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 {
                    group.addTask { try await store.update(message.msiKey) { $0.attempts += 1 } }
                }
                try await group.waitForAll()
            }
            #expect(try await store.message(message.msiKey)?.relay.attempts == 100)
            #expect(try await store.update(ObjectID()) { $0.attempts += 1 } == nil)
        }
    }
}
