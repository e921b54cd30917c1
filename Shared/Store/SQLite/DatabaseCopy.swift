import Base
import GRDB

/// Copies a SQLite file that services may be using, and verifies copies.
package enum DatabaseCopy {
    /// The pages that are copied between two reports of the progress: 8 MiB.
    private static let pagesPerStep: CInt = 2_048

    /// Copies one snapshot of a database into a new file. Writers are not blocked; what they write during the copy is not in it.
    ///
    /// The copy is one synced file without a write-ahead log.
    ///
    /// - Parameter progress: Gets the copied part, from 0 to 1.
    /// - Returns: The number of rows of each table in the snapshot.
    /// - Throws: ``DatabaseCopyFailure``.
    package static func make(
        of source: String, at path: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> [String: Int] {
        do {
            let from = try open(source, readonly: true)
            let rows = try await from.read { database in
                // The first read fixes the snapshot, for the counts and the pages alike.
                let rows = try countRows(of: database)
                let copy = try open(path, readonly: false)
                try copy.writeWithoutTransaction { copy in
                    // It is synced as a whole at the end.
                    try copy.execute(sql: "PRAGMA synchronous = OFF")
                    try database.backup(to: copy, pagesPerStep: pagesPerStep) { step in
                        progress(step.totalPageCount == 0 ? 1 : Double(step.completedPageCount) / Double(step.totalPageCount))
                    }
                    try copy.execute(sql: "PRAGMA journal_mode = DELETE")
                }
                try copy.close()
                return rows
            }
            try from.close()
            try DurableFiles.syncFile(path)
            return rows
        } catch {
            throw DatabaseCopyFailure(description: "\(source) cannot be copied to \(path): \(reason(error))")
        }
    }

    /// Reads a copy from its file, and checks its structure and its indexes.
    ///
    /// - Returns: The number of rows of each table.
    /// - Throws: ``DatabaseCopyFailure`` if it is damaged.
    package static func verify(_ path: String) async throws -> [String: Int] {
        do {
            let copy = try open(path, readonly: true)
            let (problem, rows) = try await copy.read { database in
                (try String.fetchOne(database, sql: "PRAGMA integrity_check(1)"), try countRows(of: database))
            }
            try copy.close()
            guard problem == "ok" else {
                throw DatabaseCopyFailure(description: "\(path) is damaged: \(problem ?? "its check gives no result")")
            }
            return rows
        } catch let failure as DatabaseCopyFailure {
            throw failure
        } catch {
            throw DatabaseCopyFailure(description: "\(path) cannot be verified: \(reason(error))")
        }
    }

    private static func open(_ path: String, readonly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func countRows(of database: Database) throws -> [String: Int] {
        let tables = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%'
                """)
        return try tables.reduce(into: [:]) { rows, table in
            rows[table] = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(table.quotedDatabaseIdentifier)") ?? 0
        }
    }

    /// The reason without the statement and its arguments.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        return error.resultCode == .SQLITE_FULL ? "the disk is full" : error.message ?? error.resultCode.description
    }
}

/// Why a database could not be copied, or is not what it should be.
package struct DatabaseCopyFailure: Error, CustomStringConvertible {
    package let description: String
}
