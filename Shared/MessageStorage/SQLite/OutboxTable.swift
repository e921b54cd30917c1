import EmbeddedDatabase
import GRDB
import Schemas

/// A table with an outbox: the rows with a next attempt.
struct OutboxTable: Sendable {
    let name: String
    /// The column with the identifier that callers use.
    let keyColumn: String
    let urgencyColumn: String
    let fairnessColumn: String
    let urgencyValue: @Sendable (Urgency) -> String

    static let messages = OutboxTable(
        name: MessageRow.databaseTableName, keyColumn: "msiKey", urgencyColumn: "distribution", fairnessColumn: "topicKey",
        urgencyValue: { Distribution($0).rawValue })
    static let pushes = OutboxTable(
        name: PushRow.databaseTableName, keyColumn: "pushID", urgencyColumn: "urgency", fairnessColumn: "fairnessKey",
        urgencyValue: { $0.rawValue })
    static let all = [messages, pushes]

    /// The table of a key's items, and the key as it is stored.
    static func of(_ key: FairnessKey) -> (table: OutboxTable, value: DatabaseValue) {
        switch key {
        case .topic(let topic): (messages, topic.databaseValue)
        case .named(let name): (pushes, name.databaseValue)
        }
    }

    /// Leases the due rows of one key, the longest waiting first.
    ///
    /// - Returns: The rows with the lease. An unreadable row does not block the others while its lease lasts.
    func lease(
        _ urgency: Urgency, of key: DatabaseValue, for lease: Lease, now: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> [Row] {
        let selectDue = try database.cachedStatement(
            sql: """
                SELECT rowid FROM \(name) WHERE nextAttempt <= ? AND \(urgencyColumn) = ? AND \(fairnessColumn) = ?
                ORDER BY nextAttempt LIMIT ?
                """)
        let due = try Int64.fetchAll(selectDue, arguments: [now, urgencyValue(urgency), key, limit])
        let update = try database.cachedStatement(
            sql: "UPDATE \(name) SET leaseOwner = ?, leaseUntil = ?, nextAttempt = ? WHERE rowid = ?")
        let select = try database.cachedStatement(sql: "SELECT * FROM \(name) WHERE rowid = ?")
        return try due.compactMap { rowID in
            try update.execute(arguments: [lease.owner, lease.until, lease.until, rowID])
            return try Row.fetchOne(select, arguments: [rowID])
        }
    }

    /// Releases all leases of an owner.
    func releaseLeases(of owner: String, now: UnixMilliseconds, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE \(name) SET leaseOwner = NULL, leaseUntil = NULL, nextAttempt = ?
                WHERE nextAttempt IS NOT NULL AND leaseOwner = ?
                """,
            arguments: [now, owner])
    }

    /// Expired rows that are not leased, in the order of their expiry.
    func expired(
        by now: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> [(key: ObjectID, expires: UnixMilliseconds)] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT \(keyColumn) AS key, expires FROM \(name)
                WHERE nextAttempt IS NOT NULL AND expires <= :now AND (leaseUntil IS NULL OR leaseUntil <= :now)
                ORDER BY expires LIMIT :limit
                """,
            arguments: ["now": now, "limit": limit])
        return rows.compactMap { row in
            ObjectID.fromDatabaseValue(row["key"]).map { ($0, row["expires"]) }
        }
    }

    /// When the first outstanding row expires, leased or not.
    func nextExpiry(in database: Database) throws -> UnixMilliseconds? {
        try UnixMilliseconds.fetchOne(
            database, sql: "SELECT expires FROM \(name) WHERE nextAttempt IS NOT NULL ORDER BY expires LIMIT 1")
    }

    /// Rows whose next attempt is after the first time, and at the second time at the latest.
    func waiting(after now: UnixMilliseconds, until end: UnixMilliseconds, in database: Database) throws -> RowCursor {
        try Row.fetchCursor(
            database, sql: "SELECT * FROM \(name) WHERE nextAttempt > ? AND nextAttempt <= ?", arguments: [now, end])
    }
}
