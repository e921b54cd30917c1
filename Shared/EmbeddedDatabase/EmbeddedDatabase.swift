import DurableFiles
import FoundationEssentials
package import GRDB
import Schemas

/// A SQLite file in write-ahead mode: many readers at once, one writer, and one commit for all writes that wait together.
///
/// Several processes may open the same file; each waits a few seconds for the others' transactions.
package final class EmbeddedDatabase: Sendable {
    let files: DatabaseFiles
    private let pool: DatabasePool
    private let commits: GroupCommit

    /// To so much SQLite cuts the write-ahead log back after it has grown longer, as it does during a long read.
    private static let maxIdleLog = 16 << 20

    /// Opens the file, makes it and its folder if there is none, and brings its tables up to date.
    ///
    /// - Parameters:
    ///   - path: The database file. Beside it SQLite keeps `-wal` and `-shm`. Only their owner may read them.
    ///   - durability: What a write that has returned survives.
    ///   - migrations: Registers the steps from an empty file to today's tables. Steps that have run are not run again.
    /// - Throws: ``CommandFailure`` with status `unavailable` where the file cannot be used.
    package init(path: String, durability: Durability, migrations: (inout DatabaseMigrator) -> Void) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 8
        var migrator = DatabaseMigrator()
        migrations(&migrator)
        files = DatabaseFiles(path)
        do {
            let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
            try DurableFiles.makeFolder(folder)
            try files.makePrivate()
            pool = try DatabasePool(path: path, configuration: configuration)
            try Self.set(durability, of: pool)
            try migrator.migrate(pool)
            try Self.checkWritable(pool)
            // A commit syncs the bytes of the files, not their names.
            try DurableFiles.syncFolder(folder)
        } catch {
            throw CommandFailure(.unavailable, "the database \(path) cannot be opened: \(error)")
        }
        commits = GroupCommit(pool: pool)
    }

    /// Sets what a commit survives. Only now: when GRDB opens the pool it sets `synchronous` to NORMAL, whatever was set before.
    private static func set(_ durability: Durability, of pool: DatabasePool) throws {
        let level = try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_size_limit = \(maxIdleLog)")
            try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
            return try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        guard level == durability.level else {
            throw CommandFailure(.unavailable, "SQLite does not take the setting synchronous = \(durability.rawValue)")
        }
    }

    /// SQLite opens a file that it may not write to for reading alone, and leaves it at that for as long as it is open, also when
    /// the file has become writable again. Whoever starts the process again does better than a service that only reads.
    private static func checkWritable(_ pool: DatabasePool) throws {
        do {
            try pool.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    // To begin is allowed in any case.
                    try database.execute(sql: "PRAGMA user_version = 0")
                    return .rollback
                }
            }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_BUSY {
            // Another process is writing to it.
        }
    }

    /// Reads, in a snapshot of its own, beside other readers and the writer.
    package func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await pool.read(body)
        } catch let error as DatabaseError {
            throw error.failure
        }
    }

    /// Writes, and returns once the change is committed.
    ///
    /// The body runs in a savepoint: when it throws, its own changes are undone and nobody else's. It may share its
    /// transaction with the writes that were waiting beside it.
    package func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do {
            return try await commits.write(body)
        } catch let error as DatabaseError {
            throw error.failure
        }
    }

    /// Closes the file; nothing may use it afterwards. All that was written is then in the file itself, so that a copy of it that
    /// is made after a stop has everything, unless another process has it open as well, or the disk is full.
    package func close() throws {
        do {
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_FULL].contains(error.resultCode.primaryResultCode) {
            // The other process still reads what is in the log, or there is no room for it in the file: it stays in the log.
        }
        try pool.close()
    }
}

extension EmbeddedDatabase {
    /// What a write that has returned survives: SQLite's `synchronous` setting.
    package enum Durability: String, Sendable {
        /// Everything, a power cut included: each commit is synced to disk.
        case everyCommit = "FULL"
        /// The end of the process, however sudden, but not a power cut.
        case processCrash = "OFF"

        /// The setting as SQLite reports it.
        fileprivate var level: Int {
            switch self {
            case .everyCommit: 2
            case .processCrash: 0
            }
        }
    }
}

extension DatabaseError {
    /// The failure that a caller over the bus sees: away or full is something to wait for, the rest is a fault of our own.
    var failure: any Error {
        switch resultCode.primaryResultCode {
        case .SQLITE_FULL:
            CommandFailure(.storageFull, "the disk of the database is full")
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_NOMEM,
            .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ABORT:
            CommandFailure(
                .unavailable, "the database is not available: \(message ?? resultCode.description)", retryAfter: 2_000)
        default:
            self
        }
    }
}
