import Dispatch
import Store
import FoundationEssentials
import GRDB
import Schemas
import TestSupport
import Testing

@Suite("Embedded database")
struct EmbeddedDatabaseTests {
    private static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("numbers") { try $0.execute(sql: "CREATE TABLE number (value INTEGER UNIQUE NOT NULL)") }
    }

    private func numbers(in database: EmbeddedDatabase) async throws -> [Int] {
        try await database.read { try Int.fetchAll($0, sql: "SELECT value FROM number ORDER BY value") }
    }

    @Test("Written data is there when the file is opened again")
    func reopen() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/a/b/test.sqlite"
            let database = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: Self.register)
            try await database.write { try $0.execute(sql: "INSERT INTO number VALUES (1)") }
            try database.close()
            // A copy of the file alone is a backup.
            try FileManager.default.copyItem(atPath: path, toPath: folder + "/copy.sqlite")
            let copy = try EmbeddedDatabase(
                path: folder + "/copy.sqlite", durability: .everyCommit, migrations: Self.register)
            #expect(try await numbers(in: copy) == [1])
            try copy.close()
            let again = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: Self.register)
            #expect(try await numbers(in: again) == [1])
            try again.close()
        }
    }

    @Test("A write that does not end is known without asking the database, with its file and since when")
    func hangingWrite() async throws {
        try await withTemporaryFolder { folder in
            let database = try EmbeddedDatabase(
                path: folder + "/test.sqlite", durability: .everyCommit, migrations: Self.register)
            #expect(await database.writeHealth(at: .now + .seconds(60)) == .ok)
            let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let write: Void = database.write { _ in
                begun.signal()
                end.wait()
            }
            try await eventually { begun.wait(timeout: .now()) == .success }
            #expect(await database.writeHealth() == .ok)
            let late = await database.writeHealth(at: .now + .seconds(12))
            #expect(late.status == .deadlineExceeded)
            #expect(late.message?.wholeMatch(of: /a write to test\.sqlite has not ended for \d+ s/) != nil)
            end.signal()
            try await write
            try await eventually { await database.writeHealth(at: .now + .seconds(60)) == .ok }
            try database.close()
        }
    }

    @Test("A write lock that another program holds is known from a small write that is tried, and its end from the next write")
    func lockedByAnother() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/test.sqlite"
            let database = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: Self.register)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            // Who asks waits for a second at most.
            let health = try await eventually {
                let health = await database.writeHealth()
                return health.status == .unavailable ? health : nil
            }
            #expect(health.message?.contains("locked") == true, "\(health)")
            #expect(await database.writeHealth() == health)
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try other.close()
            try await database.write { try $0.execute(sql: "INSERT INTO number VALUES (1)") }
            #expect(await database.writeHealth() == .ok)
            try database.close()
        }
    }

    @Test("On a disk with only its reserve a database is full", .enabled(if: SmallDisk.isPossible))
    func reserveOfDisk() async throws {
        try await SmallDisk.with(megabytes: 40) { disk in
            let database = try EmbeddedDatabase(
                path: disk.folder + "/test.sqlite", durability: .everyCommit, migrations: Self.register)
            #expect(await database.writeHealth() == .ok && database.storageHealth == .ok)
            try disk.fill(leaving: 12 << 20)
            #expect(await database.writeHealth() == .ok && database.storageHealth.status == .storageFull)
            try disk.fill(leaving: 4 << 20)
            #expect(await database.writeHealth().status == .storageFull)
            try database.close()
        }
    }

    @Test("A database can be closed on a full disk, and keeps everything", .enabled(if: SmallDisk.isPossible))
    func closeOnFullDisk() async throws {
        try await SmallDisk.with(megabytes: 8) { disk in
            let path = disk.folder + "/test.sqlite"
            let database = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: Self.register)
            for value in 1...2_000 {
                try await database.write { try $0.execute(sql: "INSERT INTO number VALUES (?)", arguments: [value]) }
            }
            try disk.fill()
            try database.close()
            try disk.free()
            let again = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: Self.register)
            #expect(try await numbers(in: again) == Array(1...2_000))
            try again.close()
        }
    }

    @Test("Among concurrent writes, those that fail are rolled back, and the others are kept")
    func savepoints() async throws {
        try await withTemporaryFolder { folder in
            let database = try EmbeddedDatabase(
                path: folder + "/test.sqlite", durability: .everyCommit, migrations: Self.register)
            struct Refused: Error {}
            let failures = await withTaskGroup(of: Bool.self) { group in
                for value in 0..<1_000 {
                    group.addTask {
                        do {
                            try await database.write { connection in
                                try connection.execute(sql: "INSERT INTO number VALUES (?)", arguments: [value])
                                if value % 3 == 0 { throw Refused() }
                            }
                            return false
                        } catch {
                            return error is Refused
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(failures == 334)
            #expect(try await numbers(in: database) == (0..<1_000).filter { $0 % 3 != 0 })
            try database.close()
        }
    }

    @Test("A change of tables that fails leaves nothing, and the writes at the same time are kept")
    func undoneTables() async throws {
        try await withTemporaryFolder { folder in
            let database = try EmbeddedDatabase(
                path: folder + "/test.sqlite", durability: .everyCommit, migrations: Self.register)
            struct Refused: Error {}
            for round in 0..<3 {
                await withTaskGroup(of: Void.self) { group in
                    for value in 0..<20 {
                        group.addTask {
                            guard value != 7 else {
                                try? await database.changeTables { connection in
                                    try connection.execute(sql: "CREATE TABLE refused (value)")
                                    throw Refused()
                                }
                                return
                            }
                            try? await database.write { connection in
                                if value == 3 { throw Refused() }
                                try connection.execute(sql: "INSERT INTO number VALUES (?)", arguments: [round * 20 + value])
                            }
                        }
                    }
                }
            }
            #expect(try await database.read { try !$0.tableExists("refused") })
            #expect(try await numbers(in: database) == (0..<60).filter { ![3, 7].contains($0 % 20) })
            try database.close()
        }
    }

    @Test("A violated constraint keeps its own kind of error")
    func constraint() async throws {
        try await withTemporaryFolder { folder in
            let database = try EmbeddedDatabase(
                path: folder + "/test.sqlite", durability: .everyCommit, migrations: Self.register)
            try await database.write { try $0.execute(sql: "INSERT INTO number VALUES (1)") }
            await #expect(throws: DatabaseError.self) {
                try await database.write { try $0.execute(sql: "INSERT INTO number VALUES (1)") }
            }
            try database.close()
        }
    }

    @Test(
        "Commits have the requested durability on the connection that writes",
        arguments: [
            (EmbeddedDatabase.Durability.everyCommit, 2), (.processCrash, 0),
        ])
    func durability(_ durability: EmbeddedDatabase.Durability, level: Int) async throws {
        try await withTemporaryFolder { folder in
            let database = try EmbeddedDatabase(
                path: folder + "/test.sqlite", durability: durability, migrations: Self.register)
            #expect(try await database.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == level)
            try database.close()
        }
    }

    @Test("Only their owner can read the files, whatever their modes were")
    func modes() async throws {
        try await withTemporaryFolder { folder in
            let files = ["", "-wal", "-shm"].map { folder + "/test.sqlite" + $0 }
            for _ in 0..<2 {
                let database = try EmbeddedDatabase(
                    path: files[0], durability: .everyCommit, migrations: Self.register)
                for file in files { #expect(try Self.mode(of: file) == 0o600, "\(file)") }
                try database.close()
                for file in files where FileManager.default.fileExists(atPath: file) {
                    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
                }
            }
        }
    }

    private static func mode(of file: String) throws -> Int {
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        return try #require(mode as? Int)
    }

    @Test("A file of a format that this version does not know is refused unchanged, with its name and both numbers")
    func unknownFormat() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/test.sqlite"
            try EmbeddedDatabase(path: path, durability: .everyCommit) { migrator in
                Self.register(in: &migrator)
                migrator.registerMigration("letters") { try $0.execute(sql: "CREATE TABLE letter (value TEXT)") }
            }.close()
            // A version that does not know the step, but its number, opens the file as it is.
            let earlier = try EmbeddedDatabase(path: path, durability: .everyCommit, readable: 1...2, migrations: Self.register)
            try await earlier.write { try $0.execute(sql: "INSERT INTO number VALUES (1)") }
            try earlier.close()
            let failure = #expect(throws: CommandFailure.self) {
                _ = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: Self.register)
            }
            #expect(failure?.status == .unavailable)
            for part in [path, "the format 2", "it knows is 1"] { #expect(failure?.message.contains(part) == true) }
            // A later version reads those of earlier ones.
            let later = try EmbeddedDatabase(path: path, durability: .everyCommit) { migrator in
                Self.register(in: &migrator)
                for name in ["letters", "words"] { migrator.registerMigration(name) { _ in } }
            }
            #expect(try await later.read { try $0.tableExists("letter") })
            #expect(try await later.read { try Int.fetchOne($0, sql: "SELECT value FROM number") } == 1)
            try later.close()
            #expect(throws: CommandFailure.self) {
                _ = try EmbeddedDatabase(path: path, durability: .everyCommit, readable: 1...2, migrations: Self.register)
            }
        }
    }

    @Test("A path that cannot be used is an error that names it")
    func badPath() async throws {
        try await withTemporaryFolder { folder in
            try Data("not a database, but long enough to be read as one".utf8).write(to: URL(filePath: folder + "/test.sqlite"))
            do {
                _ = try EmbeddedDatabase(
                    path: folder + "/test.sqlite", durability: .everyCommit, migrations: Self.register)
                Issue.record("it was opened")
            } catch let failure as CommandFailure {
                #expect(failure.status == .unavailable)
                #expect(failure.message.contains(folder))
            }
        }
    }
}
