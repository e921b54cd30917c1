import Store
import FoundationEssentials
import GRDB
import TestSupport
import Testing

/// Copies of databases that are in use.
@Suite("Database copies")
struct DatabaseCopyTests {
    private static func open(_ path: String) throws -> EmbeddedDatabase {
        try EmbeddedDatabase(path: path, durability: .processCrash) { migrator in
            migrator.registerMigration("numbers") { database in
                try database.execute(sql: "CREATE TABLE number (value INTEGER PRIMARY KEY, text TEXT NOT NULL)")
                try database.execute(sql: "CREATE TABLE twin (value INTEGER PRIMARY KEY)")
                try database.execute(sql: "CREATE INDEX byText ON number (text)")
            }
        }
    }

    private static func add(_ value: Int, to database: EmbeddedDatabase) async throws {
        try await database.write { database in
            try database.execute(sql: "INSERT INTO number VALUES (?, hex(randomblob(400)))", arguments: [value])
            try database.execute(sql: "INSERT INTO twin VALUES (?)", arguments: [value])
        }
    }

    @Test("A copy is one moment of a database that is written to, and has everything that was committed before")
    func whileWriting() async throws {
        try await withTemporaryFolder { folder in
            let database = try Self.open(folder + "/a.sqlite")
            for value in 1...3_000 { try await Self.add(value, to: database) }
            let writer = Task {
                var value = 3_000
                while !Task.isCancelled {
                    value += 1
                    try await Self.add(value, to: database)
                }
                return value
            }
            for number in 0..<5 {
                let path = "\(folder)/copy\(number).sqlite"
                let rows = try await DatabaseCopy.make(of: folder + "/a.sqlite", at: path) { #expect((0...1).contains($0)) }
                // Each transaction adds to both tables.
                #expect(rows["number"] == rows["twin"] && rows["number"] ?? 0 >= 3_000)
                #expect(try await DatabaseCopy.verify(path) == rows)
            }
            writer.cancel()
            #expect(try await writer.value > 3_000)
            try database.close()
            // The copy is closed, and can be opened as the database.
            let rows = try await DatabaseCopy.make(of: folder + "/a.sqlite", at: folder + "/last.sqlite") { _ in }
            let copy = try Self.open(folder + "/last.sqlite")
            #expect(try await copy.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM twin") } == rows["twin"])
            try copy.close()
        }
    }

    @Test("A damaged copy is detected, and a missing database is an error with its path")
    func damage() async throws {
        try await withTemporaryFolder { folder in
            let database = try Self.open(folder + "/a.sqlite")
            for value in 1...500 { try await Self.add(value, to: database) }
            try database.close()
            let path = folder + "/copy.sqlite"
            _ = try await DatabaseCopy.make(of: folder + "/a.sqlite", at: path) { _ in }
            var bytes = try Data(contentsOf: URL(filePath: path))
            // In the middle of the pages.
            for index in bytes.count / 2..<bytes.count / 2 + 4_096 { bytes[index] = 0 }
            try bytes.write(to: URL(filePath: path))
            await #expect(throws: DatabaseCopyFailure.self) { _ = try await DatabaseCopy.verify(path) }
            let missing = await #expect(throws: DatabaseCopyFailure.self) {
                _ = try await DatabaseCopy.make(of: folder + "/none.sqlite", at: folder + "/b.sqlite") { _ in }
            }
            #expect(missing?.description.contains("none.sqlite") == true)
        }
    }
}
