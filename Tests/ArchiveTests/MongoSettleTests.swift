import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Archive

/// Outcomes of turns in MongoDB that meet documents of other programs or a failing server.
@Suite("Outcomes in MongoDB", .timeLimit(.minutes(10)))
struct MongoSettleTests {
    private static let lease = Lease(owner: "me", until: 10_000)
    private static let relayed = RelayRecord(
        state: .relayed, attempts: 1, nextAttempt: nil, ended: 2_000, accepted: 2_000,
        components: [
            ComponentRecord(component: .notification, state: .accepted, name: "n", acceptedAt: 2_000),
            ComponentRecord(component: .data, state: .accepted, name: "d", acceptedAt: 2_000),
        ])

    @Test("Of two documents with one key and one lease, only the message gets the outcome")
    func duplicates() async throws {
        try await withMessagePlace(.mongodb) { place in
            let url = try #require(place.database)
            let message = MessageStoreTests.message(lease: Self.lease)
            let first = await MongoMessageStore(url: url, logger: quietLogger)
            _ = try await first.insert(message)
            await first.close()
            let database = await MongoDatabase.open(url, application: "test", logger: quietLogger)
            try await database.run { connection in
                _ = try connection.write(["dropIndexes": "message", "index": "key"])
                let stored = try #require(try connection.find([:], in: "message").first)
                let fields = try BSONFields(stored).all.filter { $0.key != "_id" }.map { ($0.key, $0.value) }
                // The copy comes first in each index.
                let lowest = try #require(ObjectID("000000000000000000000000"))
                _ = try connection.delete([:], from: "message")
                #expect(try connection.insert([BSONDocument([("_id", lowest.bson)] + fields)], into: "message") == [nil])
                _ = try connection.update(["_id": lowest.bson], ["$unset": ["relay.revision": ""]], in: "message")
                #expect(try connection.insert([stored], into: "message") == [nil])
            }
            let store = await MongoMessageStore(url: url, logger: quietLogger)
            #expect(try await store.settle(.message(message.msiKey), leased: Self.lease, Self.relayed))
            #expect(try await store.message(message.msiKey)?.relay == Self.relayed)
            let leased = try await database.run { try $0.find(["relay.lease.owner": "me"], in: "message") }
            #expect(leased.count == 1)
            await store.close()
            await database.close()
        }
    }

    @Test("An outcome that the server refuses does not hold back the others, and fails alone")
    func refused() async throws {
        try await withMessagePlace(.mongodb) { place in
            let store = try await place.open()
            let messages = (0..<20).map { MessageStoreTests.message("\($0)", lease: Self.lease) }
            for message in messages { _ = try await store.insert(message) }
            try await place.spoil(messages[7].msiKey, column: "relay", field: "relay.revision")
            let stored = try await concurrently(messages.count) { number in
                do {
                    return try await store.settle(.message(messages[number].msiKey), leased: Self.lease, Self.relayed)
                } catch {
                    #expect(number == 7)
                    return false
                }
            }
            #expect(stored.count { $0 } == 19)
            for message in messages where message != messages[7] {
                #expect(try await store.message(message.msiKey)?.relay == Self.relayed)
            }
            try await store.close()
        }
    }

    @Test("While the server is away, outcomes fail as unavailable, and their repetition stores them")
    func serverAway() async throws {
        try await withMongoServer { server in
            let store = await MongoMessageStore(url: try MongoURL(server.url()), logger: quietLogger)
            let messages = (0..<10).map { MessageStoreTests.message("\($0)", lease: Self.lease) }
            for message in messages { _ = try await store.insert(message) }
            await server.kill()
            try await concurrently(messages.count) { number in
                let failure = await #expect(throws: CommandFailure.self) {
                    try await store.settle(.message(messages[number].msiKey), leased: Self.lease, Self.relayed)
                }
                #expect(failure?.status == .unavailable)
            }
            try await server.restart()
            for message in messages {
                try await eventually {
                    (try? await store.settle(.message(message.msiKey), leased: Self.lease, Self.relayed)) != nil
                }
                #expect(try await store.message(message.msiKey)?.relay == Self.relayed)
            }
            await store.close()
        }
    }
}
