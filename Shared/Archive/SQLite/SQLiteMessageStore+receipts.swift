import Store
import GRDB
package import Schemas
import Synchronization

extension SQLiteMessageStore {
    package func add(_ reports: [AddReceipts], now: UnixMilliseconds, maxInstallations: Int) async throws {
        var counts = ReceiptCounts(of: reports)
        let wanted = Array(counts.messages)
        counts.keep(try await database.read { try ReceiptTable.countable(wanted, now: now, in: $0) })
        guard !counts.reports.isEmpty else { return }
        // To look for installations beyond the maximum takes a while.
        let mustCount = uncountedReports.mustCount(after: counts.reports.count, of: maxInstallations / 100)
        var mustCountAgain = mustCount
        defer { if mustCountAgain { uncountedReports.mustCountAgain() } }
        mustCountAgain = try await database.write { [counts] database in
            var counts = counts
            for report in counts.reports where try ReceiptInstallationTable.accept(report, now: now, in: database) {
                counts.add(report)
            }
            try ReceiptTable.add(counts.byMessage, in: database)
            try ReceiptInstallationTable.forget(before: now - AddReceipts.memory, in: database)
            return try mustCount && ReceiptInstallationTable.forget(beyond: maxInstallations, in: database)
        }
    }

    package func receipts(of msiKeys: [ObjectID]) async throws -> [ObjectID: MessageReceipts] {
        try await database.read { try ReceiptTable.receipts(of: msiKeys, in: $0) }
    }

    package func installations(reportedSince moment: UnixMilliseconds) async throws -> Int {
        try await database.read { try ReceiptInstallationTable.count(since: moment, in: $0) }
    }

    package func set(_ receipts: [ObjectID: MessageReceipts]) async throws {
        guard !receipts.isEmpty else { return }
        try await database.write { try ReceiptTable.set(receipts, in: $0) }
    }
}

/// Counts reports until the remembered installations are to be counted again.
final class UncountedReports: Sendable {
    private let count = Mutex(Int.max / 2)

    /// - Returns: Whether there are more than a number of reports since it was last so, or since the start.
    func mustCount(after reports: Int, of max: Int) -> Bool {
        count.withLock { count in
            count += reports
            guard count > max else { return false }
            count = 0
            return true
        }
    }

    func mustCountAgain() { count.withLock { $0 = .max / 2 } }
}

/// The table `receipt`: how many phones have received and opened a message.
enum ReceiptTable {
    static func create(in database: Database) throws {
        try database.create(table: "receipt", options: .withoutRowID) { table in
            table.primaryKey("msiKey", .text)
            table.column("received", .integer).notNull()
            table.column("opened", .integer).notNull()
        }
    }

    /// Which messages are stored, and may have gone out: those that a relay has taken, and those that were due, unless they were recalled
    /// before or never approved. Phones can fetch a due Alert, and a power cut can undo what is stored of an attempt.
    static func countable(_ msiKeys: [ObjectID], now: UnixMilliseconds, in database: Database) throws -> Set<ObjectID> {
        try ObjectID.fetchSet(
            database,
            sql: """
                SELECT msiKey FROM message
                WHERE msiKey IN (SELECT value FROM json_each(:keys)) AND (attempts > 0 OR leaseOwner IS NOT NULL
                    OR (state <> 'held'
                        AND (COALESCE(sendAt, delay) IS NULL OR nextAttempt <= :now OR webpushAttempt <= :now
                            OR ended > COALESCE(sendAt, timestamp + 1000 * delay))
                        AND (approval IS NOT TRUE
                            OR EXISTS (SELECT 1 FROM json_each(trace) WHERE value ->> 'action' = :approve))))
                """,
            arguments: ["keys": json(msiKeys), "now": now, "approve": Intervention.Action.approve.rawValue])
    }

    static func receipts(of msiKeys: [ObjectID], in database: Database) throws -> [ObjectID: MessageReceipts] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT msiKey, received, opened FROM receipt WHERE msiKey IN (SELECT value FROM json_each(?))",
            arguments: [json(msiKeys)])
        let receipts = rows.map { ($0["msiKey"] as ObjectID, MessageReceipts(received: $0["received"], opened: $0["opened"])) }
        return Dictionary(uniqueKeysWithValues: receipts)
    }

    /// Adds to the counts.
    static func add(_ counts: [ObjectID: MessageReceipts], in database: Database) throws {
        try put(counts, "received = received + excluded.received, opened = opened + excluded.opened", in: database)
    }

    /// Replaces the counts.
    static func set(_ counts: [ObjectID: MessageReceipts], in database: Database) throws {
        try put(counts, "received = excluded.received, opened = excluded.opened", in: database)
    }

    /// - Parameter msiKey: As it is stored: the message may be unreadable.
    static func remove(_ msiKey: DatabaseValue, in database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM receipt WHERE msiKey = ?").execute(arguments: [msiKey])
    }

    private static func put(_ counts: [ObjectID: MessageReceipts], _ change: String, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO receipt (msiKey, received, opened) VALUES (?, ?, ?) ON CONFLICT (msiKey) DO UPDATE SET \(change)")
        for (key, count) in counts { try statement.execute(arguments: [key, count.received, count.opened]) }
    }

    private static func json(_ msiKeys: [ObjectID]) -> String {
        "[\(msiKeys.map { "\"\($0)\"" }.joined(separator: ","))]"
    }
}

/// The table `receiptInstallation`: for each installation of the students' app the number of its last report.
enum ReceiptInstallationTable {
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
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO receiptInstallation (id, report, time) VALUES (?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET report = excluded.report, time = excluded.time WHERE report < excluded.report
                """)
        try statement.execute(arguments: [report.installation, report.report, now])
        return database.changesCount > 0
    }

    /// Limits how long messages wait for a deletion.
    private static let maxPerDeletion = 10_000

    static func forget(before moment: UnixMilliseconds, in database: Database) throws {
        _ = try forget("WHERE time < ? LIMIT ?", [moment, maxPerDeletion], in: database)
    }

    /// Forgets the installations with the oldest last reports while there are more than `max`.
    ///
    /// - Returns: Whether there may be more to forget.
    static func forget(beyond max: Int, in database: Database) throws -> Bool {
        try forget("ORDER BY time DESC LIMIT ? OFFSET ?", [maxPerDeletion, max], in: database) == maxPerDeletion
    }

    /// - Parameter which: The end of a query for their ids.
    /// - Returns: How many were forgotten.
    private static func forget(_ which: String, _ arguments: StatementArguments, in database: Database) throws -> Int {
        try database.execute(
            sql: "DELETE FROM receiptInstallation WHERE id IN (SELECT id FROM receiptInstallation \(which))", arguments: arguments
        )
        return database.changesCount
    }

    /// How many have reported since a time: the index of the times has them all.
    static func count(since moment: UnixMilliseconds, in database: Database) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM receiptInstallation WHERE time >= ?", arguments: [moment]) ?? 0
    }

    static func count(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM receiptInstallation") ?? 0
    }

    /// What an installation takes up with its index, in bytes: measured with random ids.
    static let bytesPerRow = 84
}
