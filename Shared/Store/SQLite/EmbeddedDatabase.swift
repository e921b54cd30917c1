import CoreMetrics
import Base
import FoundationEssentials
package import GRDB
import Glibc
import Instruments
import Schemas

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

    /// The maximum page cache of each reader, in KiB; SQLite's default is 2,000. A reader drops its pages whenever there was a commit since
    /// its last transaction, so a larger cache would only take memory. The system has the pages anyway.
    private static let maxReaderCache = 512

    /// How long a write waits for another process, in milliseconds.
    static let busyTimeout = 5_000
    /// How long ``emptyLog()`` waits for readers and other processes, in milliseconds.
    private static let logBusyTimeout = 200

    /// Opens the file, creates it and its folder if they are missing, and migrates its tables.
    ///
    /// - Parameters:
    ///   - path: The database file. SQLite keeps `-wal` and `-shm` beside it. Only their owner may read them.
    ///   - durability: What a completed write survives.
    ///   - erases: Whether SQLite overwrites what is removed. ``emptyLog()`` then removes its last traces.
    ///   - readable: The numbers of the formats that this version reads; `nil` for those of its steps. It may include the next one: a file
    ///     on which the next version has run its further step.
    ///   - migrations: Registers the steps from an empty file to the current tables. Each step runs once. Their number is the number of
    ///     the file's format: never change a released one, append another ("Versions" in Shared/Store/README.md). Without steps, a file
    ///     of any format is opened.
    ///   - prepare: What each opening does after the steps, in one transaction, such as to add indexes that earlier versions ignore.
    /// - Throws: ``CommandFailure`` with status `unavailable` if the file cannot be used, or has a format that this version does not know.
    package init(
        path: String, durability: Durability, erases: Bool = false, readable: ClosedRange<Int>? = nil,
        migrations: (inout DatabaseMigrator) -> Void, prepare: ((Database) throws -> Void)? = nil
    ) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Double(Self.busyTimeout) / 1_000)
        configuration.maximumReaderCount = 8
        configuration.prepareDatabase { database in
            guard database.configuration.readonly else {
                if erases { try database.execute(sql: "PRAGMA secure_delete = ON") }
                return
            }
            try database.execute(sql: "PRAGMA cache_size = -\(Self.maxReaderCache)")
        }
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
            try Self.checkFormat(of: pool, migrator, readable)
            try migrator.migrate(pool)
            if let prepare { try pool.write(prepare) }
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

    private static func checkFormat(of pool: DatabasePool, _ migrator: DatabaseMigrator, _ readable: ClosedRange<Int>?) throws {
        let steps = migrator.migrations
        guard !steps.isEmpty else { return }
        let formats = FormatVersions(written: steps.count, readable: readable ?? 1...steps.count)
        let applied = try pool.read { try migrator.appliedIdentifiers($0) }
        guard !applied.isSubset(of: steps) else { return }
        // Steps of other names are those of another program or of a version before 1.0.0.
        guard applied.isSuperset(of: steps) else { throw CommandFailure.foreignFile("it") }
        // A later version has run all steps of this one, and further ones.
        guard formats.readable.contains(applied.count) else {
            throw UnknownFormat("it", number: applied.count, known: formats)
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
    /// It shares its transaction with other waiting writes. If it throws, only its own changes are undone.
    ///
    /// - Parameters:
    ///   - canWait: Whether it may be committed some milliseconds later, with other writes, because nobody waits for it.
    ///   - body: May run more than once, even if it does not throw: another write of the transaction may have failed. So it must
    ///     have no other effects than its changes of this database. The result of the last run counts. It changes rows only; for tables
    ///     there is ``changeTables(_:)``.
    package func write<Value: Sendable>(
        canWait: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let start = ContinuousClock.now
        defer { writes.record(since: start) }
        do {
            return try await commits.write(canWait: canWait, body)
        } catch let error as DatabaseError {
            throw error.failure
        }
    }

    /// Writes in a separate transaction: SQLite counts no change of a table's form, so the shared one would not notice what it has to
    /// undo.
    package func changeTables(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        do {
            try await pool.write(body)
        } catch let error as DatabaseError {
            throw error.failure
        }
    }

    /// Moves the write-ahead log into the file, and empties it. What a database that `erases` has removed is in neither then.
    ///
    /// - Throws: ``CommandFailure`` with status `unavailable` while another read or process needs the log.
    package func emptyLog() async throws {
        do {
            try await pool.writeWithoutTransaction { database in
                // Writes wait behind it, so it does not wait for a long read such as that of a backup.
                try database.execute(sql: "PRAGMA busy_timeout = \(Self.logBusyTimeout)")
                defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Self.busyTimeout)") }
                _ = try database.checkpoint(.truncate)
            }
        } catch let error as DatabaseError {
            throw error.failure
        }
    }

    /// Commits the writes that wait, and closes the file, which cannot be used afterwards. A checkpoint moves the write-ahead log into the file, so that a copy
    /// made after a stop is complete, unless another process has the file open or the disk is full.
    package func close() throws {
        // The writer runs them before the checkpoint. Later it has no file.
        commits.commitWaiting()
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

/// The files of one database.
struct DatabaseFiles: Sendable {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The size of the write-ahead log in bytes. SQLite keeps the file after a checkpoint.
    var logSize: Int64 {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The state of the database's file and of its write-ahead log.
    var stamps: (file: FileStamp?, log: FileStamp?) { (FileStamp(of: path), FileStamp(of: path + "-wal")) }

    var diskSpace: DiskSpace {
        get throws { try DiskSpace(of: path) }
    }

    /// Gives the files mode 600, and creates the database's file if it is missing.
    ///
    /// - Throws: ``CommandFailure`` if others may read a file and its mode cannot be changed.
    func makePrivate() throws(CommandFailure) {
        // SQLite creates `-wal` and `-shm` with this file's mode.
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
        for path in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
            guard chmod(path, status.st_mode & 0o700) == 0 else {
                let reason = String(cString: strerror(errno))
                let mode = String(status.st_mode & 0o777, radix: 8)
                throw CommandFailure(
                    .unavailable, "others may read \(path), mode \(mode), and it cannot be changed to 600: \(reason)")
            }
        }
    }
}
