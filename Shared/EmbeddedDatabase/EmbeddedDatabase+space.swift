package import DurableFiles
import GRDB
import Schemas

extension EmbeddedDatabase {
    /// The size of the data in bytes, with the write-ahead log, without free pages.
    package func size() async throws -> Int64 {
        try await read { [files] database in
            let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            let bytes = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            return (pages - free) * bytes + files.logSize
        }
    }

    /// The space on its disk. The system has it in memory for a local disk, and SQLite's write-ahead log needs one.
    package var diskSpace: DiskSpace {
        get throws { try files.diskSpace }
    }

    /// Refuses a write that needs room while the disk has only its reserve. Call it in the write.
    ///
    /// - Throws: ``CommandFailure`` with status `storage_full`.
    package func checkRoom() throws {
        let disk = try files.diskSpace
        guard disk.free < disk.reserve else { return }
        throw CommandFailure(
            .storageFull,
            "the disk of the database has \(disk.free) bytes free, and \(disk.reserve) are reserved for accepted messages, "
                + "sign-ins and revocations")
    }
}
