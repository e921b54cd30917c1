import EmbeddedDatabase
import GRDB
package import Schemas

extension SQLiteMessageStore {
    package func add(_ reports: [AddReceipts], now: UnixMilliseconds) async throws {
        try await database.write { database in
            var counts = ReceiptCounts()
            for report in reports where try ReceiptTable.accept(report, now: now, in: database) { counts.add(report) }
            for (key, count) in counts.byMessage {
                try database.execute(
                    sql: """
                        UPDATE message SET received = COALESCE(received, 0) + ?, opened = COALESCE(opened, 0) + ? WHERE msiKey = ?
                        """,
                    arguments: [count.received, count.opened, key.description])
            }
            try ReceiptTable.forget(before: now - AddReceipts.memory, in: database)
        }
    }
}

/// The table `receiptInstallation`: for each installation of the students' app the number of its last report.
enum ReceiptTable {
    static func create(in database: Database) throws {
        try database.create(table: "receiptInstallation", options: .withoutRowID) { table in
            table.primaryKey("id", .text)
            table.column("report", .integer).notNull()
            table.column("time", .integer).notNull()
        }
        try database.create(index: "receiptInstallationByTime", on: "receiptInstallation", columns: ["time"])
    }

    /// - Returns: Whether the report is new.
    static func accept(_ report: AddReceipts, now: UnixMilliseconds, in database: Database) throws -> Bool {
        try database.execute(
            sql: """
                INSERT INTO receiptInstallation (id, report, time) VALUES (?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET report = excluded.report, time = excluded.time WHERE report < excluded.report
                """,
            arguments: [report.installation.description, report.report, now.rawValue])
        return database.changesCount > 0
    }

    static func forget(before moment: UnixMilliseconds, in database: Database) throws {
        try database.execute(sql: "DELETE FROM receiptInstallation WHERE time < ?", arguments: [moment.rawValue])
    }
}
