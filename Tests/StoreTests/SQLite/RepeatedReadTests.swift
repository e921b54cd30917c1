import Store
import GRDB
import Synchronization
import TestSupport
import Testing

@Suite("Reads that are repeated", .timeLimit(.minutes(10)))
struct RepeatedReadTests {
    /// Counts the rows of a table, and how often it has read them.
    private final class Counter: Sendable {
        private let database: EmbeddedDatabase
        private let last = RepeatedRead<Int>()
        private let count = Mutex(0)

        init(_ database: EmbeddedDatabase) {
            self.database = database
        }

        var reads: Int { count.withLock(\.self) }

        func rows(at now: ContinuousClock.Instant = .now) async throws -> Int {
            try await last.value(at: database.revision, now: now) {
                count.withLock { $0 += 1 }
                return try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") ?? 0 }
            }
        }
    }

    private func withDatabases(
        _ body: (_ own: EmbeddedDatabase, _ foreign: EmbeddedDatabase) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let databases = try (0..<2).map { _ in
                try EmbeddedDatabase(path: "\(folder)/test.sqlite", durability: .processCrash) { migrator in
                    migrator.registerMigration("item") { try $0.create(table: "item") { $0.column("name", .text) } }
                }
            }
            try await body(databases[0], databases[1])
            for database in databases { try database.close() }
        }
    }

    private func add(to database: EmbeddedDatabase) async throws {
        try await database.write { try $0.execute(sql: "INSERT INTO item VALUES ('a')") }
    }

    @Test("An unchanged database is not read again")
    func unchanged() async throws {
        try await withDatabases { own, _ in
            let counter = Counter(own)
            for _ in 0..<10 { #expect(try await counter.rows() == 0) }
            #expect(counter.reads == 1)
            // A transaction that changes nothing, such as a search for what is due.
            _ = try await own.write { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
            _ = try await counter.rows()
            #expect(counter.reads == 1)
        }
    }

    @Test("Each commit of this process is seen at once")
    func ownCommit() async throws {
        try await withDatabases { own, _ in
            let counter = Counter(own)
            for number in 0..<200 {
                #expect(try await counter.rows() == number)
                try await add(to: own)
            }
            #expect(try await counter.rows() == 200)
        }
    }

    @Test("A commit of another process is seen")
    func foreignCommit() async throws {
        try await withDatabases { own, foreign in
            let counter = Counter(own)
            for number in 0..<20 {
                #expect(try await counter.rows() == number)
                try await add(to: foreign)
                // The clock of the file system may be as coarse as this.
                try await eventually("the row is seen") { try await counter.rows() == number + 1 }
            }
        }
    }

    @Test("After a while the database is read in any case")
    func maxAge() async throws {
        try await withDatabases { own, _ in
            let counter = Counter(own)
            let start = ContinuousClock.now
            _ = try await counter.rows(at: start)
            _ = try await counter.rows(at: start + .seconds(1))
            #expect(counter.reads == 1)
            _ = try await counter.rows(at: start + .seconds(3))
            #expect(counter.reads == 2)
        }
    }

    @Test("Without a revision it is always read")
    func withoutRevision() async throws {
        let read = RepeatedRead<Int>()
        for stored in 1...2 {
            let value = try await read.value(at: nil) { stored }
            #expect(value == stored)
        }
    }
}
