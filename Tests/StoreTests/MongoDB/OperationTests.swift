import Base
import Schemas
import TestSupport
import Testing

@testable import Store

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

    @Test("A database that a version with format 2 has opened is refused to one that reads only format 1")
    func formats() async throws {
        try await withDatabase { database in
            try await database.run { connection in
                func number() throws -> Int64? {
                    try connection.find(["_id": "things"], in: "format").first.map { try BSONFields($0).value("number") }
                }
                struct NotPrepared: Error {}
                let first = FormatVersions(written: 1, readable: 1...1)
                let second = FormatVersions(written: 2, readable: 1...2)
                #expect(throws: NotPrepared.self) { try connection.prepare("things", first) { throw NotPrepared() } }
                #expect(try number() == nil)
                try connection.prepare("things", first) {}
                #expect(try number() == 1)
                #expect(throws: NotPrepared.self) { try connection.prepare("things", second) { throw NotPrepared() } }
                #expect(try number() == 1)
                try connection.prepare("things", second) {}
                #expect(try number() == 2)
                let error = #expect(throws: MongoError.self) {
                    try connection.prepare("things", first) { Issue.record("it was prepared") }
                }
                #expect(error?.code == .unknownFormat)
                for part in ["things", "the format 2", "it knows is 1"] { #expect(error?.message.contains(part) == true) }
                try connection.prepare("things", FormatVersions(written: 1, readable: 1...2)) {}
                #expect(try number() == 2)
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
                    try await group.insert { ["_id": .int32(Int32(number / 2))] }
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

    @Test("If documents are updated together, the server tells how many were found, and each failed update has its own error")
    func bulkUpdate() async throws {
        try await withDatabase { database in
            func increment(_ id: Int32) -> DocumentUpdate {
                DocumentUpdate(["_id": .int32(id)], ["$inc": ["value": .int64(1)]])
            }
            let (mixed, valid) = try await database.run { [all = [0, 7, 1, 2, 0].map(increment)] connection in
                _ = try connection.insert(
                    [["_id": 0, "value": .int64(5)], ["_id": 1, "value": "text"], ["_id": 2, "value": .int64(6)]], into: "numbers"
                )
                return (try connection.update(all, in: "numbers"), try connection.update([all[0], all[3]], in: "numbers"))
            }
            #expect(mixed.errors.map { $0 == nil } == [true, true, false, true, true])
            #expect(mixed.matched == 3 && !mixed.allMatched)
            #expect(valid == BulkUpdate(matched: 2, errors: [nil, nil]) && valid.allMatched)
            let values = try await database.run { connection in
                try connection.find(["_id": ["$ne": 1]], in: "numbers", options: ["sort": ["_id": 1]]).map {
                    try BSONFields($0).value("value", as: Int64.self)
                }
            }
            #expect(values == [8, 8])
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
            let error = await mongoFailure {
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
                try await group.insert { document }
                let found = try await database.run { try $0.find(document, in: "numbers") }
                #expect(found.count == 1)
            }
        }
    }
}
