import GRDB
import TestSupport
import Testing

@testable import Store

/// Writes that share commits. The tasks of the writes that can wait begin at once: when `Task.immediate` returns, the write waits.
@Suite("Shared commits", .timeLimit(.minutes(5)))
struct GroupCommitTests {
    private struct Refused: Error {}

    private static func open(_ path: String) throws -> EmbeddedDatabase {
        try EmbeddedDatabase(path: path, durability: .everyCommit) { migrator in
            migrator.registerMigration("numbers") { try $0.execute(sql: "CREATE TABLE number (value INTEGER UNIQUE NOT NULL)") }
        }
    }

    private static func withDatabase(_ body: (EmbeddedDatabase) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let database = try open(folder + "/test.sqlite")
            try await body(database)
            try database.close()
        }
    }

    private static func insert(_ value: Int, into database: EmbeddedDatabase, canWait: Bool = false) async throws {
        try await database.write(canWait: canWait) {
            try $0.execute(sql: "INSERT INTO number VALUES (?)", arguments: [value])
        }
    }

    private static func numbers(in database: EmbeddedDatabase) async throws -> [Int] {
        try await database.read { try Int.fetchAll($0, sql: "SELECT value FROM number ORDER BY value") }
    }

    @Test("A write that can wait is committed within a second, without another write") func alone() async throws {
        try await Self.withDatabase { database in
            var value = 0
            // Not the first time, if the machine is busy.
            try await eventually("one is committed within a second") {
                let begin = ContinuousClock.now
                try await Self.insert(value, into: database, canWait: true)
                let time = ContinuousClock.now - begin
                let stored = try await Self.numbers(in: database)
                #expect(stored == Array(0...value))
                value += 1
                return time < .seconds(1)
            }
            try await eventually("the writer is idle") { database.commits.busySince == nil }
        }
    }

    @Test("A write that can wait is committed with the next one that cannot") func together() async throws {
        try await Self.withDatabase { database in
            var value = 0
            // Its time may be over before the other one comes.
            try await eventually("both are in one commit") {
                let (first, second, commits) = (value, value + 1, database.commits.count)
                value += 2
                let waiting = Task.immediate { try await Self.insert(first, into: database, canWait: true) }
                try await Self.insert(second, into: database)
                try await waiting.value
                let stored = try await Self.numbers(in: database)
                #expect(stored == Array(0...second))
                return database.commits.count == commits + 1
            }
        }
    }

    @Test("All of many writes end, before and behind one that cannot wait") func many() async throws {
        try await Self.withDatabase { database in
            // More than a commit takes, so that one has only writes that can wait, and some are left after the urgent one.
            let count = 1_400
            let writes = (0..<count).map { value in
                Task.immediate { try await Self.insert(value, into: database, canWait: value != 700) }
            }
            for write in writes { try await write.value }
            let stored = try await Self.numbers(in: database)
            #expect(stored == Array(0..<count))
            try await eventually("the writer is idle") { database.commits.busySince == nil }
            // The count of the urgent ones is right: a later write neither hangs nor holds up another.
            try await Self.insert(count, into: database, canWait: true)
            try await Self.insert(count + 1, into: database)
        }
    }

    @Test("One that fails undoes only its own changes, and gets its error") func failure() async throws {
        try await Self.withDatabase { database in
            let writes = (0..<30).map { value in
                Task.immediate {
                    try await database.write(canWait: value % 10 != 9) { connection in
                        try connection.execute(sql: "INSERT INTO number VALUES (?)", arguments: [value])
                        if value % 3 == 0 { throw Refused() }
                    }
                }
            }
            for (value, write) in writes.enumerated() {
                let result = await write.result
                if value % 3 == 0 {
                    #expect(throws: Refused.self) { try result.get() }
                } else {
                    #expect(throws: Never.self) { try result.get() }
                }
            }
            let stored = try await Self.numbers(in: database)
            #expect(stored == (0..<30).filter { $0 % 3 != 0 })
            try await Self.insert(100, into: database, canWait: true)
        }
    }

    @Test("What waits when the database is closed is committed") func close() async throws {
        try await withTemporaryFolder { folder in
            let database = try Self.open(folder + "/test.sqlite")
            let writes = (0..<600).map { value in
                Task.immediate { try await Self.insert(value, into: database, canWait: true) }
            }
            try database.close()
            for write in writes { try await write.value }
            let again = try Self.open(folder + "/test.sqlite")
            let stored = try await Self.numbers(in: again)
            #expect(stored == Array(0..<600))
            try again.close()
        }
    }
}
