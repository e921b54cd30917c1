package import Base
import GRDB
package import Schemas

extension EmbeddedDatabase {
    /// With a longer commit the service is not ready. A commit waits at most 5 s for another process, and a slow disk syncs in a second
    /// or two.
    private static let maxCommit = Duration.seconds(10)
    /// How long each attempt of the test write asks for the write lock, in milliseconds. It delays a real write by no more.
    private static let trialBusyTimeout = 200
    private static let maxTrialAttempts = 4

    /// As ``CheckedStore/writeHealth()``.
    ///
    /// - Parameter now: The present, to which the age of the current commit is measured.
    package func writeHealth(at now: ContinuousClock.Instant? = nil) async -> PartHealth {
        if let hang = hang(at: now ?? .now) { return hang }
        let outcome = await writeOutcomes.current {
            do {
                try await self.tryWrite()
                self.writeOutcomes.ended(nil)
            } catch {
                let failure = (error as? DatabaseError)?.failure ?? error
                self.writeOutcomes.ended(
                    failure as? CommandFailure ?? CommandFailure(.internal, "a small write fails: \(failure)"))
            }
        }
        if let hang = hang(at: now ?? .now) { return hang }
        guard outcome == .ok else { return outcome }
        do {
            try checkRoom()
            return .ok
        } catch {
            let failure = error as? CommandFailure ?? CommandFailure(.unavailable, "\(error)")
            return PartHealth(failure.status, failure.message)
        }
    }

    /// As ``CheckedStore/storageHealth``.
    package var storageHealth: PartHealth {
        guard let disk = try? files.diskSpace, disk.usedShare >= 0.9 else { return .ok }
        return PartHealth(
            .storageFull,
            "the disk of \(name) has \(disk.free) bytes free; new documents are refused while there are fewer than \(disk.reserve)"
        )
    }

    /// The writer has been busy with one commit for longer than ``maxCommit``: its disk may be frozen. The answer does not use the database.
    private func hang(at now: ContinuousClock.Instant) -> PartHealth? {
        guard let since = [commits.busySince, writeOutcomes.tryingSince].compactMap(\.self).min(), now - since > Self.maxCommit
        else {
            return nil
        }
        return PartHealth(.deadlineExceeded, "a write to \(name) has not ended for \((now - since).components.seconds) s")
    }

    /// Commits a small test write, which no one reads. Between its attempts to get the write lock from another process, real writes
    /// have their turn.
    private func tryWrite() async throws {
        for attempt in 1... {
            do {
                return try await pool.writeWithoutTransaction { database in
                    try database.execute(sql: "PRAGMA busy_timeout = \(Self.trialBusyTimeout)")
                    defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Self.busyTimeout)") }
                    try database.inTransaction(.immediate) {
                        let mark = try Int.fetchOne(database, sql: "PRAGMA user_version")
                        try database.execute(sql: "PRAGMA user_version = \(mark == 0 ? 1 : 0)")
                        return .commit
                    }
                }
            } catch let error as DatabaseError
                where error.resultCode.primaryResultCode == .SQLITE_BUSY && attempt < Self.maxTrialAttempts
            {}
        }
    }

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
