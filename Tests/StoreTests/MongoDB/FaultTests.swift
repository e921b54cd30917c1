import Schemas
import TestSupport
import Testing

@testable import Store

/// Operations during an outage of the server, and the recovery without intervention.
@Suite("MongoDB faults", .timeLimit(.minutes(10)))
struct FaultTests {
    @Test("While the server is killed, operations fail at once, and one line is logged; another line says that it is back")
    func killed() async throws {
        try await withMongoServer { server in
            let log = RecordedLog()
            try await withDatabase(at: server.url(), log: log) { database in
                let store = { (number: Int32) in
                    try await database.run { connection in
                        if let error = try connection.insert([["_id": .int32(number)]], into: "numbers")[0] { throw error }
                    }
                }
                try await store(1)
                #expect(log.louderThanDebug.isEmpty)
                await server.kill()
                let first = await mongoFailure { try await store(2) }
                #expect(first?.code == .notReachable)
                let start = ContinuousClock.now
                for number: Int32 in 0..<500 {
                    let error = await mongoFailure { try await store(number) }
                    #expect(error?.code == .notReachable)
                    #expect((error?.failure as? CommandFailure)?.status == .unavailable)
                }
                // Each would wait for seconds if it tried.
                #expect(ContinuousClock.now - start < .seconds(60))
                #expect(log.louderThanDebug.map { $0.hasPrefix("the database is away") } == [true])

                try await server.restart()
                try await eventually { await mongoFailure { try await store(3) } == nil }
                #expect(log.louderThanDebug.map { $0.prefix(20) } == ["the database is away", "the database is back"])
                // Documents that were stored before the kill are still stored.
                #expect(try await database.run { try $0.find([:], in: "numbers").count } == 2)
            }
        }
    }

    @Test("A service that has the database open looks for the mark of a restore after an outage, and waits for the restore's end")
    func restoreDuringOutage() async throws {
        try await withMongoServer { server in
            let url = server.url()
            let restore = await MongoDatabase.open(
                try MongoURL(url).duringRestore, application: "test", logger: quietLogger)
            try await withDatabase(at: url) { database in
                let ping: @Sendable () async throws -> Void = { try await database.run { try $0.ping() } }
                try await restore.run { try $0.markRestore() }
                // It does not look while it is connected.
                try await ping()
                await server.kill()
                // On a busy machine a ping before may have been so slow that the outage begins with a time-out.
                try await eventually("the outage is noticed") { await mongoFailure(ping)?.code == .notReachable }
                try await server.restart()
                try await eventually {
                    let error = try #require(await mongoFailure(ping))
                    return error.code == .unfinishedRestore
                }
                try await eventually { await mongoFailure { try await restore.run { try $0.removeRestoreMark() } } == nil }
                try await eventually { await mongoFailure(ping) == nil }
            }
            await restore.close()
        }
    }

    @Test("A frozen server is unreachable within seconds, and reachable once it continues")
    func frozen() async throws {
        try await withMongoServer { server in
            let log = RecordedLog()
            try await withDatabase(at: server.url(options: ["socketTimeoutMS=120000"]), log: log) { database in
                let ping: @Sendable () async throws -> Void = { _ = try await database.run { try $0.read(["ping": 1]) } }
                try await ping()
                try await server.freeze()
                async let hanging = mongoFailure(ping)
                try await eventually { !log.louderThanDebug.isEmpty }
                let next = ContinuousClock.now
                // Two seconds later a further probe does not even get a new connection, which changes the reason, and logs it.
                let code = await mongoFailure(ping)?.code
                #expect(code == .timedOut || code == .notReachable)
                #expect(ContinuousClock.now - next < .seconds(60))
                server.thaw()
                #expect(await hanging == nil)
                try await eventually { await mongoFailure(ping) == nil }
                let lines = log.louderThanDebug.map { $0.prefix(20) }
                #expect(lines.dropLast().allSatisfy { $0 == "the database is away" } && lines.last == "the database is back")
            }
        }
    }

    @Test("An operation that is slower than the socket timeout fails alone, and the database stays reachable for others")
    func slow() async throws {
        try await withMongoServer { server in
            let log = RecordedLog()
            try await withDatabase(at: server.url(options: ["socketTimeoutMS=1500"]), log: log) { database in
                let ping: @Sendable () async throws -> Void = { _ = try await database.run { try $0.read(["ping": 1]) } }
                try await ping()
                for _ in 0..<2 {
                    try await server.freeze()
                    let error = await mongoFailure(ping)
                    #expect(error?.code == .timedOut)
                    #expect((error?.failure as? CommandFailure)?.status == .unavailable)
                    server.thaw()
                    // The first ones after it may be slow, too.
                    try await eventually { await mongoFailure(ping) == nil }
                }
                #expect(log.louderThanDebug.isEmpty)
            }
        }
    }

    @Test("Operations in flight when the server is killed end with an error, or are done")
    func killedInTheMiddle() async throws {
        try await withMongoServer { server in
            try await withDatabase(at: server.url()) { database in
                let group = GroupInsert(database: database, collection: "numbers")
                // Each continues until it fails. The hundredth kills the server.
                let stored = try await withThrowingTaskGroup(of: Set<Int32>.self) { tasks in
                    for client: Int32 in 0..<16 {
                        tasks.addTask {
                            var stored: Set<Int32> = []
                            for number in Int32(0)... {
                                let id = number * 16 + client
                                guard await mongoFailure({ try await group.insert { ["_id": .int32(id)] } }) == nil else { break }
                                stored.insert(id)
                                if id == 100 { await server.kill() }
                            }
                            return stored
                        }
                    }
                    return try await tasks.reduce(into: Set<Int32>()) { $0.formUnion($1) }
                }
                #expect(stored.contains(100))
                try await server.restart()
                var found: Set<Int32> = []
                try await eventually {
                    await mongoFailure {
                        found = Set(
                            try await database.run { connection in
                                try connection.find([:], in: "numbers").map { try BSONFields($0).value("_id") }
                            })
                    } == nil
                }
                #expect(found.isSuperset(of: stored))
            }
        }
    }

    @Test("Without a server the start is not delayed, and the database is prepared once there is one")
    func awayAtStart() async throws {
        try await withMongoServer { server in
            await server.kill()
            let log = RecordedLog()
            let start = ContinuousClock.now
            let database = await MongoDatabase.open(
                try MongoURL(server.url()), application: "test", logger: log.logger,
                prepare: { connection in _ = try connection.insert([["_id": "prepared"]], into: "state") })
            #expect(ContinuousClock.now - start < .seconds(60))
            let find = { try await database.run { try $0.find([:], in: "state").count } }
            #expect(await mongoFailure { _ = try await find() }?.code == .notReachable)
            try await server.restart()
            try await eventually { await mongoFailure { _ = try await find() } == nil }
            #expect(try await find() == 1)
            await database.close()
            #expect(log.louderThanDebug.map { $0.prefix(20) } == ["the database is away", "the database is back"])
        }
    }

    @Test("With SCRAM the right password works; a wrong one is unavailable, logged once, and never shown")
    func passwords() async throws {
        try await withMongoServer { server in
            try await withDatabase(at: server.url(database: "campus")) { database in
                try await database.run { connection in
                    _ = try connection.write([
                        "createUser": "ann", "pwd": "r1ght/password", "roles": [["role": "readWrite", "db": "campus"]],
                    ])
                }
            }
            await server.stop()
            try await server.restart(flags: ["--auth"])

            let ping: @Sendable (MongoDatabase) async throws -> Void = { database in
                _ = try await database.run { try $0.find([:], in: "numbers") }
            }
            try await withDatabase(at: server.url(database: "campus", user: "ann:r1ght%2Fpassword"), ping)
            let log = RecordedLog()
            try await withDatabase(at: server.url(database: "campus", user: "ann:wr0ng"), log: log) { database in
                for _ in 0..<3 {
                    let error = await mongoFailure { try await ping(database) }
                    #expect(error?.code == .notAuthenticated)
                    #expect((error?.failure as? CommandFailure)?.status == .unavailable)
                }
            }
            #expect(log.louderThanDebug.count == 1)
            #expect(!log.lines.contains { $0.text.contains("wr0ng") })
            try await withDatabase(at: server.url(database: "campus")) { database in
                let error = await mongoFailure { try await ping(database) }
                #expect(error?.code == .notAuthorised || error?.code == .notAuthenticated)
            }
        }
    }

    @Test("With TLS, only a server whose certificate is signed by the configured file is trusted")
    func tls() async throws {
        try await withTLSMongoServer { server, certificates in
            let ping: @Sendable (MongoDatabase) async throws -> Void = { database in
                _ = try await database.run { try $0.read(["ping": 1]) }
            }
            try await withDatabase(at: server.url(options: ["tls=true", "tlsCAFile=\(certificates)"]), ping)
            for options in [["tls=true"], []] {
                try await withDatabase(at: server.url(options: options)) { database in
                    #expect(await mongoFailure { try await ping(database) }?.code == .notReachable)
                }
            }
        }
    }
}
