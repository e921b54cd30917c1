import MongoDatabase
import Schemas
import TestSupport
import Testing
import Time

@testable import MessageStorage

/// Claims in MongoDB that meet documents of other programs or a failing server.
@Suite("Claims in MongoDB", .timeLimit(.minutes(2)))
struct MongoClaimTests {
    private let lease = Lease(owner: "o", until: 9_000)

    @Test("Messages of one topic are claimed together, also if another program has written its digits in upper case")
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

    @Test("The index that the one by time has replaced is removed")
    func formerIndex() async throws {
        try await withMessagePlace(.mongodb) { place in
            let database = await MongoDatabase.open(try #require(place.database), application: "test", logger: quietLogger)
            let former: BSONDocument = ["name": "due", "key": ["urgency": 1, "relay.next_attempt": 1]]
            try await database.run { _ = try $0.write(["createIndexes": "push", "indexes": .array([.document(former)])]) }
            func indexes() async throws -> Set<String> {
                try await database.run {
                    let reply = try BSONFields($0.read(["listIndexes": "push"]))
                    return Set(try reply.fields("cursor").list("firstBatch").map { try $0.value("name") })
                }
            }
            #expect(try await indexes() == ["_id_", "due"])
            for _ in 0..<2 {
                let store = try await place.open()
                #expect(
                    try await indexes() == ["_id_", "idempotency", "time", "due by time", "due of topic", "expiry"])
                try await store.close()
            }
            await database.close()
        }
    }
}
