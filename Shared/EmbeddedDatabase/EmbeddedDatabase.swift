import CoreMetrics
import DurableFiles
import FoundationEssentials
package import GRDB
import Instruments
import Schemas
import StoreHealth
import Time

/// A SQLite file in WAL mode: concurrent readers, one writer, and one commit for all waiting writes.
///
/// Several processes may open the same file; each waits a few seconds for the others' transactions.
package final class EmbeddedDatabase: Sendable {
    let files: DatabaseFiles
    let pool: DatabasePool
    let commits: GroupCommit
    let writeOutcomes = WriteHealth()
    let name: String
    private let reads: CoreMetrics.Timer
    private let writes: CoreMetrics.Timer

    /// SQLite truncates a longer write-ahead log to this size. A long read lets the log grow.
    private static let maxIdleLog = 16 << 20

    /// How long a write waits for another process, in milliseconds.
    static let busyTimeout = 5_000

    /// Opens the file, creates it and its folder if they are missing, and migrates its tables.
    ///
    /// - Parameters:
    ///   - path: The database file. SQLite keeps `-wal` and `-shm` beside it. Only their owner may read them.
    ///   - durability: What a completed write survives.
    ///   - migrations: Registers the steps from an empty file to the current tables. Each step runs once.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used.
    package init(path: String, durability: Durability, migrations: (inout DatabaseMigrator) -> Void) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Double(Self.busyTimeout) / 1_000)
        configuration.maximumReaderCount = 8
        var migrator = DatabaseMigrator()
        migrations(&migrator)
        files = DatabaseFiles(path)
        name = URL(filePath: path).lastPathComponent
        do {
            let folder = URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false)
            try DurableFiles.makeFolder(folder)
            try files.makePrivate()
            pool = try DatabasePool(path: path, configuration: configuration)
            try Self.set(durability, of: pool)
            try migrator.migrate(pool)
            try Self.checkWritable(pool)
            // A commit syncs the contents of the files, not their directory entries.
            try DurableFiles.syncFolder(folder)
        } catch {
            throw CommandFailure(.unavailable, "the database \(path) cannot be opened: \(error)")
        }
        let store = URL(filePath: path).deletingPathExtension().lastPathComponent
        commits = GroupCommit(pool: pool, sizes: Instrument.storeCommitSize.recorder(["store": store]), health: writeOutcomes)
        reads = Instrument.storeOperations.timer(["store": store, "operation": "read"])
        writes = Instrument.storeOperations.timer(["store": store, "operation": "write"])
    }

    /// Sets what a commit survives. Must follow the opening of the pool, in which GRDB sets `synchronous` to NORMAL.
    private static func set(_ durability: Durability, of pool: DatabasePool) throws {
        let level = try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_size_limit = \(maxIdleLog)")
            try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
            return try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        guard level == durability.level else {
            throw CommandFailure(.unavailable, "SQLite does not accept the setting synchronous = \(durability.rawValue)")
        }
    }

    /// SQLite opens a write-protected file read-only, and keeps it read-only after the file has become writable. So the process
    /// ends, and its next start finds the file as it is then.
    private static func checkWritable(_ pool: DatabasePool) throws {
        do {
            try pool.writeWithoutTransaction { database in
                try database.inTransaction(.immediate) {
                    // BEGIN alone succeeds on a read-only file.
                    try database.execute(sql: "PRAGMA user_version = 0")
                    return .rollback
                }
            }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_BUSY {
            // Another process is writing to it.
        }
    }

    /// The revision of the content. A reader that asks for it before it reads has all changes up to it.
    package var revision: DatabaseRevision {
        let (file, log) = files.stamps
        return DatabaseRevision(commits: commits.count, file: file, log: log)
    }

    /// Reads from a snapshot, concurrently with other readers and the writer.
    ///
    /// - Parameter mayTakeLong: Whether it is a search, whose duration says nothing about the database's health.
    package func read<Value: Sendable>(
        mayTakeLong: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let start = ContinuousClock.now
        defer { if !mayTakeLong { reads.record(since: start) } }
        do {
            return try await pool.read(body)
        } catch let error as DatabaseError {
            throw error.failure
        }
    }

    /// Writes, and returns once the change is committed.
    ///
    /// The body runs in a savepoint: if it throws, only its own changes are undone. It may share its transaction with other
    /// waiting writes.
    package func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let start = ContinuousClock.now
        defer { writes.record(since: start) }
        do {
            return try await commits.write(body)
        } catch let error as DatabaseError {
            throw error.failure
        }
    }

    /// Closes the file, which cannot be used afterwards. A checkpoint moves the write-ahead log into the file, so that a copy
    /// made after a stop is complete, unless another process has the file open or the disk is full.
    package func close() throws {
        do {
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        } catch let error as DatabaseError where [.SQLITE_BUSY, .SQLITE_FULL].contains(error.resultCode.primaryResultCode) {
            // Another process still reads the log, or the file has no room: the data stays in the log.
        }
        try pool.close()
    }
}

extension EmbeddedDatabase {
    /// What a completed write survives: SQLite's `synchronous` setting.
    package enum Durability: String, Sendable {
        /// Everything, a power cut included: each commit is synced to disk.
        case everyCommit = "FULL"
        /// The end of the process, also by SIGKILL, but not a power cut.
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
    /// The failure for a caller over the bus. It may retry while the database is away or full; other errors are
    /// faults of this code.
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
