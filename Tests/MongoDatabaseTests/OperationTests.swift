import Schemas
import TestSupport
import Testing

@testable import MongoDatabase

@Suite("MongoDB operations", .timeLimit(.minutes(10)))
struct OperationTests {
    @Test("Every type is read back from the server as it was stored")
    func roundTrip() async throws {
        try await withDatabase { database in
            let document: BSONDocument = [
                "_id": .objectID(ObjectID()), "text": "🎓 \"q\" مكتبة\n", "int32": .int32(-5), "int64": .int64(1_763_712_000_123),
                "real": .double(0.25), "yes": true, "none": nil, "list": [1, "two", ["three": []]], "inside": ["a": ["b": "c"]],
            ]
            let read = try await database.run { connection in
                let errors = try connection.insert([document], into: "things")
                #expect(errors == [nil])
                return try connection.find([:], in: "things")
            }
            #expect(read == [document])
        }
    }

    @Test("Documents are found by filter, order and limit, changed in part, and removed")
    func findUpdateDelete() async throws {
        try await withDatabase { database in
            try await database.run { connection in
                let documents = (0..<10).map { number in
                    BSONDocument([("_id", .int64(number)), ("parity", .int64(number % 2)), ("tags", .array([]))])
                }
                _ = try connection.insert(documents, into: "numbers")
                let odd = try connection.find(["parity": 1], in: "numbers", options: ["sort": ["_id": -1], "limit": 2])
                #expect(try odd.map { try BSONFields($0).value("_id", as: Int64.self) } == [9, 7])

                let one = try connection.update(["parity": 1], ["$push": ["tags": "x"]], in: "numbers")
                #expect(one == MongoUpdate(matched: 1, modified: 1))
                let all = try connection.update(["parity": 1], ["$set": ["tags": []]], in: "numbers", all: true)
                #expect(all == MongoUpdate(matched: 5, modified: 1))
                let reply = try connection.write([
                    "findAndModify": "numbers", "query": ["_id": 3], "update": ["$inc": ["parity": 10]], "new": true,
                ])
                #expect(try BSONFields(reply).fields("value").value("parity", as: Int64.self) == 11)
                #expect(try connection.delete(["_id": ["$lt": 5]], from: "numbers") == 5)
                #expect(try connection.find([:], in: "numbers").count == 5)
            }
        }
    }

    @Test("While a restore has not ended, only the restore uses the database, and others wait for its end")
    func unfinishedRestore() async throws {
        let url = try MongoURL(await MongoServer.shared.url())
        let restore = await MongoDatabase.open(url.duringRestore, application: "test", logger: quietLogger)
        try await restore.run { try $0.markRestore() }
        try await restore.run { try $0.markRestore() }
        let service = await MongoDatabase.open(url, application: "test", logger: quietLogger) { connection in
            _ = try connection.insert([["_id": 1]], into: "prepared")
        }
        let error = await #expect(throws: MongoError.self) { try await service.run { try $0.ping() } }
        #expect(error?.code == .unfinishedRestore)
        #expect(try await restore.run { try $0.find([:], in: "prepared") } == [])
        try await restore.run { try $0.removeRestoreMark() }
        try await eventually { (try? await service.run { try $0.find([:], in: "prepared").count }) == 1 }
        await service.close()
        await restore.close()
    }

    @Test("If documents are stored together, each invalid one has its own error, and the others are stored")
    func partialInsert() async throws {
        try await withDatabase { database in
            let errors = try await database.run { connection in
                _ = try connection.insert([["_id": 3]], into: "numbers")
                return try connection.insert((0..<6).map { ["_id": .int32($0 % 5)] }, into: "numbers")
            }
            #expect(errors.map { $0?.code } == [nil, nil, nil, .duplicateKey, nil, .duplicateKey])
            #expect(errors[3]?.message.contains("E11000") == true)
            let group = GroupInsert(database: database, collection: "numbers")
            let outcomes = try await concurrently(400) { number in
                do {
                    try await group.insert(["_id": .int32(Int32(number / 2))])
                    return true
                } catch {
                    #expect((error as? MongoError)?.code == .duplicateKey)
                    return false
                }
            }
            #expect(outcomes.count { $0 } == 195)
            #expect(try await database.run { try $0.find([:], in: "numbers").count } == 200)
        }
    }

    @Test("A transaction is atomic, and none of many concurrent ones is lost")
    func transactions() async throws {
        try await withDatabase { database in
            struct Refused: Error {}
            try await database.run { connection in
                _ = try connection.insert([["_id": "counter", "value": .int64(0)]], into: "state")
                _ = try connection.insert([["_id": "first"]], into: "log")
            }
            @Sendable func countUp(_ connection: MongoConnection) throws -> Int64 {
                let reply = try connection.write([
                    "findAndModify": "state", "query": ["_id": "counter"], "update": ["$inc": ["value": .int64(1)]], "new": true,
                ])
                let value: Int64 = try BSONFields(reply).fields("value").value("value")
                let errors = try connection.insert([["_id": .int64(value)]], into: "log")
                #expect(errors == [nil])
                return value
            }
            await #expect(throws: Refused.self) {
                try await database.transaction { connection in
                    _ = try countUp(connection)
                    throw Refused()
                }
            }
            #expect(try await database.run { try $0.find([:], in: "log").count } == 1)

            // Another pool stands for another process.
            let url = try await MongoServer.shared.url(database: database.name)
            let values = try await withDatabase(at: url) { other in
                try await concurrently(40) { number in
                    try await (number % 2 == 0 ? database : other).transaction(countUp)
                }
            }
            #expect(values.sorted() == Array(1...40))
            #expect(try await database.run { try $0.find([:], in: "log").count } == 41)
        }
    }

    @Test("A duplicate key in a transaction undoes it, and stays a duplicate key")
    func transactionDuplicate() async throws {
        try await withDatabase { database in
            try await database.run { connection in _ = try connection.insert([["_id": 1]], into: "numbers") }
            let error = await failure {
                try await database.transaction { connection in
                    _ = try connection.update(["_id": 1], ["$set": ["touched": true]], in: "numbers")
                    if let error = try connection.insert([["_id": 1]], into: "numbers")[0] { throw error }
                }
            }
            #expect(error?.code == .duplicateKey)
            #expect(try await database.run { try $0.find(["touched": true], in: "numbers") }.isEmpty)
        }
    }

    @Test("A thousand concurrent operations share the threads, and all are done")
    func crowd() async throws {
        try await withDatabase(options: ["maxPoolSize=4"]) { database in
            let group = GroupInsert(database: database, collection: "numbers")
            try await concurrently(1_000) { number in
                let document: BSONDocument = ["_id": .int32(Int32(number))]
                try await group.insert(document)
                let found = try await database.run { try $0.find(document, in: "numbers") }
                #expect(found.count == 1)
            }
        }
    }
}
