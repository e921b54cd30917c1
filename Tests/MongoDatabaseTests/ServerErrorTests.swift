import Schemas
import TestSupport
import Testing

@testable import MongoDatabase

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
                    let error = await failure {
                        try await database.run { connection in
                            try connection.failNext(["find"], ["errorCode": .int32(number)])
                            _ = try connection.find([:], in: "things")
                        }
                    }
                    #expect(error?.code == code, "\(number)")
                    #expect(error?.message.isEmpty == false)
                    #expect((error?.failure as? CommandFailure)?.status == status, "\(number)")
                }
                let full = await failure {
                    try await database.run { connection in
                        try connection.failNext(["insert"], ["errorCode": 14_031])
                        _ = try connection.insert([["_id": 1]], into: "things")
                    }
                }
                #expect(full?.code == .storageFull)
                let unacknowledged = await failure {
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
        _ = try write(
            [
                "configureFailPoint": "failCommand", "mode": ["times": 1],
                "data": .document(how.with("failCommands", .array(commands))),
            ], in: "admin")
    }
}
