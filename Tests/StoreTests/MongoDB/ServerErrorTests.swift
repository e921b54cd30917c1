import Schemas
import TestSupport
import Testing

@testable import Store

/// The mapping of the server's own errors, which are injected.
@Suite("MongoDB server errors", .timeLimit(.minutes(10)))
struct ServerErrorTests {
    /// The server says by itself when it is primary again, but not this one.
    private static let options = ["retryReads=false", "heartbeatFrequencyMS=500"]

    private static let codes: [(server: Int32, code: MongoError.Code, status: ReplyStatus?)] = [
        (10_107, .notPrimary, .unavailable), (189, .notPrimary, .unavailable), (91, .notPrimary, .unavailable),
        (13, .notAuthorised, .unavailable), (14_031, .storageFull, .storageFull), (50, .timedOut, .unavailable),
        (112, .transactionFailed, .unavailable), (8_000, .other, nil), (2, .other, nil),
    ]

    @Test("Each kind of error keeps the server's text, and says whether it is transient")
    func classes() async throws {
        try await withMongoServer(flags: ["--enable-test-commands"]) { server in
            let log = RecordedLog()
            try await withDatabase(at: server.url(options: Self.options), log: log) { database in
                for (number, code, status) in Self.codes {
                    let error = await mongoFailure {
                        try await database.run { connection in
                            try connection.failNext(["find"], ["errorCode": .int32(number)])
                            _ = try connection.find([:], in: "things")
                        }
                    }
                    #expect(error?.code == code, "\(number)")
                    #expect(error?.message.isEmpty == false)
                    #expect((error?.failure as? CommandFailure)?.status == status, "\(number)")
                }
                let full = await mongoFailure {
                    try await database.run { connection in
                        try connection.failNext(["insert"], ["errorCode": 14_031])
                        _ = try connection.insert([["_id": 1]], into: "things")
                    }
                }
                #expect(full?.code == .storageFull)
                let unacknowledged = await mongoFailure {
                    try await database.run { connection in
                        try connection.failNext(["insert"], ["writeConcernError": ["code": 64, "errmsg": "too slow"]])
                        _ = try connection.insert([["_id": 2]], into: "things")
                    }
                }
                #expect(unacknowledged?.code == .timedOut)
            }
            // These errors belong to single operations: the server was reachable all the time.
            #expect(log.louderThanDebug.isEmpty)
        }
    }

    @Test("Only a transaction that has written shows that writes succeed: one that only reads hides no failure of writes")
    func healthAfterReading() async throws {
        try await withMongoServer(flags: ["--enable-test-commands"]) { server in
            try await withDatabase(at: server.url(options: Self.options)) { database in
                try await database.run { _ = try $0.insert([["_id": "counter", "value": .int64(0)]], into: "state") }
                let full = await mongoFailure {
                    try await database.run { connection in
                        try connection.failNext(["insert"], ["errorCode": 14_031])
                        _ = try connection.insert([["_id": 1]], into: "things")
                    }
                }
                #expect(full?.code == .storageFull)
                let read = try await database.snapshot { try $0.find([:], in: "state").count }
                #expect(read == 1)
                #expect(await database.writeHealth().status == .storageFull)
                try await database.transaction { connection in
                    _ = try connection.update(["_id": "counter"], ["$inc": ["value": .int64(1)]], in: "state")
                }
                #expect(await database.writeHealth() == .ok)
            }
        }
    }

    @Test("An insertion fails if the connection breaks between two of its commands, even if the first one has refused a document")
    func brokenInsertion() async throws {
        try await withMongoServer(flags: ["--enable-test-commands"]) { server in
            try await withDatabase(at: server.url(options: Self.options)) { database in
                // A command has at most 48 MB.
                let text = BSONValue.string(String(repeating: "a", count: 15 << 20))
                let documents = [1, 1, 2, 3].map { BSONDocument([("_id", .int32($0)), ("text", text)]) }
                let broken = await mongoFailure {
                    try await database.run { connection in
                        try connection.fail(["insert"], ["closeConnection": true], mode: ["skip": 1])
                        _ = try connection.insert(documents, into: "things")
                    }
                }
                #expect(broken?.code == .notReachable)
            }
        }
    }

    @Test("A transaction is repeated after a transient error, and its commit is repeated if the answer is lost")
    func transactions() async throws {
        try await withMongoServer(flags: ["--enable-test-commands"]) { server in
            try await withDatabase(at: server.url(options: Self.options)) { database in
                try await database.run { _ = try $0.insert([["_id": "counter", "value": .int64(0)]], into: "state") }
                for (command, code): (BSONValue, Int32) in [
                    ("update", 112), ("commitTransaction", 112), ("commitTransaction", 91),
                ] {
                    try await database.run { connection in
                        let labels: BSONValue = code == 112 ? ["TransientTransactionError"] : ["UnknownTransactionCommitResult"]
                        try connection.failNext([command], ["errorCode": .int32(code), "errorLabels": labels])
                    }
                    try await database.transaction { connection in
                        _ = try connection.update(["_id": "counter"], ["$inc": ["value": .int64(1)]], in: "state")
                    }
                }
                let counter = try await database.run { try $0.find([:], in: "state") }
                #expect(try BSONFields(counter[0]).value("value", as: Int64.self) == 3)
            }
        }
    }
}

extension MongoConnection {
    /// Makes the server fail the next of these commands.
    fileprivate func failNext(_ commands: [BSONValue], _ how: BSONDocument) throws {
        try fail(commands, how, mode: ["times": 1])
    }

    fileprivate func fail(_ commands: [BSONValue], _ how: BSONDocument, mode: BSONValue) throws {
        _ = try write(
            [
                "configureFailPoint": "failCommand", "mode": mode,
                "data": .document(how.with("failCommands", .array(commands))),
            ], in: "admin")
    }
}
