import Store
import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

/// Claims in MongoDB that meet documents of other programs or a failing server.
@Suite("Claims in MongoDB", .timeLimit(.minutes(10)))
struct MongoClaimTests {
    private let lease = Lease(owner: "o", until: 9_000)

    @Test("Messages of one topic are claimed together, even if another program has written its digits in upper case")
    func spellings() async throws {
        try await withMessagePlace(.mongodb) { place in
            let store = try await place.open()
            let id = try #require(ObjectID("abcdefabcdefabcdefabcdef"))
            let topic = TopicKey(channel: id, area: id, subject: id)
            let messages = (0..<4).map { MessageStoreTests.message("\($0)", topic: topic) }
            for message in messages { _ = try await store.insert(message) }
            let database = await MongoDatabase.open(try #require(place.database), application: "test", logger: quietLogger)
            for message in messages.prefix(2) {
                try await database.run {
                    let spelling: BSONDocument = ["topic_key": .string(topic.description.uppercased())]
                    _ = try $0.update(["msi_key": message.msiKey.bson], ["$set": .document(spelling)], in: "message")
                }
            }
            let first = try await store.claim(Claim(.high, limit: 9, maxPerKey: 3), lease: lease, now: 2_000)
            #expect(first.map(\.fairnessKey) == Array(repeating: .topic(topic), count: 3))
            let second = try await store.claim(Claim(.high, limit: 9, maxPerKey: 3), lease: lease, now: 2_000)
            #expect(Set((first + second).map(\.key)) == Set(messages.map { .message($0.msiKey) }))
            try await store.close()
            await database.close()
        }
    }

    @Test("Documents that are not pushes do not stop the other pushes of their key, and are named in the log once")
    func unreadablePushes() async throws {
        try await withMessagePlace(.mongodb) { place in
            let log = RecordedLog()
            let store = try await place.open(logger: log.logger)
            let spoilt = (0..<2).map { PushStoreTests.push("spoilt \($0)", logged: UnixMilliseconds(rawValue: Int64($0))) }
            let pushes = (0..<6).map { PushStoreTests.push("\($0)", logged: UnixMilliseconds(rawValue: Int64(100 + $0))) }
            for push in spoilt + pushes { _ = try await store.insert(push) }
            let database = await MongoDatabase.open(try #require(place.database), application: "test", logger: quietLogger)
            for (push, field) in zip(spoilt, ["relay.revision", "relay.recipients"]) {
                try await database.run { _ = try $0.update(["_id": push.id.bson], ["$set": [field: "spoilt"]], in: "push") }
            }
            let stranger: BSONDocument = [
                "_id": "its own name", "urgency": spoilt[0].urgency.bson, "fairness_key": spoilt[0].fairnessKey.bson,
                "sender": "another", "idempotency_key": "k", "relay": ["next_attempt": .int64(50), "revision": .int64(0)],
            ]
            #expect(try await database.run { try $0.insert([stranger], into: "push") } == [nil])
            let one = try await store.claim(Claim(.high, limit: 1, maxPerKey: 1), lease: lease, now: 2_000)
            #expect(one.map(\.key) == [.push(pushes[0].id)])
            let others = try await store.claim(Claim(.high, limit: 20, maxPerKey: 20), lease: lease, now: 2_000)
            #expect(others.map(\.key) == pushes.dropFirst().map { .push($0.id) })
            for name in spoilt.map(\.id.description) + ["its own name"] {
                #expect(log.louderThanDebug.count { $0.contains(name) } == 1, "\(name)")
            }
            try await store.close()
            await database.close()
        }
    }

    @Test("A change of a lease's end between the two steps of a claim does not hide the item from the claim")
    func shortenedLease() async throws {
        try await withMessagePlace(.mongodb) { place in
            let store = try await place.open()
            let message = MessageStoreTests.message()
            _ = try await store.insert(message)
            _ = try await store.claim(Claim(.high, limit: 1, maxPerKey: 1), lease: lease, now: 2_000)
            let database = await MongoDatabase.open(try #require(place.database), application: "test", logger: quietLogger)
            func claims() async throws -> Int {
                try await database.run { try $0.find(["relay.lease.claim": ["$type": "objectId"]], in: "message").count }
            }
            #expect(try await claims() == 1)
            let shorter = Lease(owner: lease.owner, until: lease.until - 1)
            try await store.update(message.msiKey) { record, _ in
                (record.lease, record.nextAttempt) = (shorter, shorter.until)
            }
            #expect(try await store.message(message.msiKey)?.relay.lease == shorter)
            #expect(try await claims() == 1)
            try await store.close()
            await database.close()
        }
    }

    @Test("When a claim can lease only a part of what is due, it throws an error with that part, and the rest stays due")
    func claimHalfway() async throws {
        try await withMessagePlace(.mongodb) { place in
            let url = try #require(place.database)
            let store = await MongoMessageStore(url: url, logger: quietLogger)
            let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
            // A second push with the same owner cannot be leased.
            let oneLease: BSONDocument = [
                "name": "one lease", "key": ["relay.lease.owner": 1], "unique": true,
                "partialFilterExpression": ["relay.lease.owner": ["$gt": ""]],
            ]
            try await database.run {
                _ = try $0.write(["createIndexes": "push", "indexes": .array([.document(oneLease)])])
            }
            let message = MessageStoreTests.message("message", at: 0)
            _ = try await store.insert(message)
            let pushes = (0..<2).map { PushStoreTests.push("\($0)") }
            for push in pushes { _ = try await store.insert(push) }
            let claim = Claim(.high, limit: 9, maxPerKey: 9)
            let part = await #expect(throws: PartialClaim.self) {
                try await store.claim(claim, lease: Lease(owner: "o", until: 9_000), now: 2_000)
            }
            #expect(part?.items.map(\.key) == [.message(message.msiKey)])
            #expect((part?.cause as? MongoError)?.code == .duplicateKey)
            // A claim that cannot lease anything fails.
            await #expect(throws: MongoError.self) {
                try await store.claim(claim, lease: Lease(owner: "o", until: 9_000), now: 2_000)
            }
            for push in pushes {
                let relay = try await store.push(push.id)?.relay
                #expect(relay?.lease == nil && relay?.nextAttempt ?? .max <= 2_000)
            }
            try await database.run { _ = try $0.write(["dropIndexes": "push", "index": "one lease"]) }
            #expect(try await store.claim(claim, lease: Lease(owner: "o", until: 9_000), now: 2_000).count == 2)
            await store.close()
            await database.close()
        }
    }

    @Test("A claim of many pushes that cannot read some of them throws an error with the others, and releases only the rest")
    func batches() async throws {
        try await withMessagePlace(.mongodb) { place in
            let store = try await place.open(unreadable: .refused)
            let pushes = (0..<60).map { PushStoreTests.push("\($0)", logged: UnixMilliseconds(rawValue: Int64($0))) }
            for push in pushes { _ = try await store.insert(push) }
            let database = await MongoDatabase.open(try #require(place.database), application: "test", logger: quietLogger)
            try await database.run {
                _ = try $0.update(["_id": pushes[54].id.bson], ["$set": ["relay.recipients": "spoilt"]], in: "push")
            }
            let part = await #expect(throws: PartialClaim.self) {
                try await store.claim(Claim(.high, limit: 60, maxPerKey: 60), lease: lease, now: 2_000)
            }
            #expect(part?.items.map(\.key) == pushes.prefix(50).map { .push($0.id) })
            let leased = try await database.run { try $0.find(["relay.lease.owner": "o"], in: "push").map(\.identifier) }
            #expect(Set(leased) == Set(pushes.prefix(50).map(\.id.description)))
            try await store.close()
            await database.close()
        }
    }

    @Test("If the duplicates cannot be searched, all leases of the claim are released, and a hanging server is asked once")
    func released() async throws {
        try await withMongoServer { server in
            let url = try MongoURL(server.url())
            let store = await MongoMessageStore(url: url, logger: quietLogger)
            let message = MessageStoreTests.message("message")
            _ = try await store.insert(message)
            for number in 0..<40 { _ = try await store.insert(PushStoreTests.push("\(number)")) }
            let claimed = try await store.claim(Claim(.high, limit: 99, maxPerKey: 99), lease: lease, now: 2_000)
            #expect(claimed.count == 41)
            let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
            let unreadable = UnreadableItems(
                messages: UnreadableDocuments(of: "message", .skipped, logger: quietLogger),
                pushes: UnreadableDocuments(of: "push", .skipped, logger: quietLogger))
            try await database.run {
                _ = try $0.update(["_id": message.id.bson], ["$set": ["title": .int64(7)]], in: "message")
            }
            await #expect(throws: CommandFailure.self) {
                try await database.run { try $0.withoutDuplicates(claimed, lease: lease, now: 2_000, unreadable) }
            }
            for collection in OutboxCollection.all {
                let leased = try await database.run { try $0.find(["relay.lease": ["$type": "object"]], in: collection.name) }
                #expect(leased.isEmpty)
            }
            let timeouts = ["socketTimeoutMS", "connectTimeoutMS", "serverSelectionTimeoutMS"].map { $0 + "=1000" }
            let impatient = await MongoDatabase.open(
                try MongoURL(server.url(options: timeouts)), application: "test", logger: quietLogger)
            try await server.freeze()
            let start = ContinuousClock.now
            await #expect(throws: MongoError.self) {
                try await impatient.run { try $0.withoutDuplicates(claimed, lease: lease, now: 2_000, unreadable) }
            }
            // 41 attempts would take at least 41 seconds.
            #expect(ContinuousClock.now - start < .seconds(35))
            server.thaw()
            await impatient.close()
            await database.close()
            await store.close()
        }
    }
}
