import DurableFiles
import GRDB
package import Schemas
import StoreHealth

extension EmbeddedDatabase {
    /// With a longer commit the service is not ready. A commit waits at most 5 s for another process, and a slow disk syncs in a second
    /// or two.
    private static let maxCommit = Duration.seconds(10)
    /// For how long a tried write asks for the write lock at a time, in milliseconds. A real write waits no longer for it.
    private static let trialBusyTimeout = 200
    private static let maxTrialAttempts = 4

    /// As ``CheckedStore/writeHealth()``.
    ///
    /// - Parameter now: The time until which a write may have hung.
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

    /// The writer has been at one commit for longer than ``maxCommit``: its disk may be frozen. The database is not used for the answer.
    private func hang(at now: ContinuousClock.Instant) -> PartHealth? {
        guard let since = [commits.busySince, writeOutcomes.tryingSince].compactMap(\.self).min(), now - since > Self.maxCommit
        else {
            return nil
        }
        return PartHealth(.deadlineExceeded, "a write to \(name) has not ended for \((now - since).components.seconds) s")
    }

    /// Commits something small, which no one reads. Between its attempts to get the write lock from another process it lets real writes
    /// pass.
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
}
