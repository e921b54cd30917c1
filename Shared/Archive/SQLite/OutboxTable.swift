import Store
import GRDB
import Base
import Schemas

/// A table with an outbox, the rows with a next attempt, for one transport.
struct OutboxTable: Sendable {
    let name: String
    /// The transport by whose due times a queue is claimed.
    let transport: PushTransport
    /// The column with these times.
    let dueColumn: String
    /// All columns, in the order of ``OutboxRow/Column``.
    let columns: String
    /// The column with the identifier that callers use.
    let keyColumn: String
    let urgencyColumn: String
    let fairnessColumn: String
    let urgencyValue: @Sendable (Urgency) -> String
    let updates: Updates

    /// The statements that change a record. They are made once: each outcome needs one.
    struct Updates {
        /// Of what a turn changes, if the row has a lease.
        let settle: String
        /// Of the whole record.
        let replace: String
    }

    static let messages = OutboxTable(
        of: MessageRow.self, MessageRow.tableName, urgency: .distribution, { Distribution($0).rawValue }, fairness: .topicKey)
    static let pushes = OutboxTable(
        of: PushRow.self, PushRow.tableName, urgency: .urgency, { $0.rawValue }, fairness: .fairnessKey)
    /// Both tables, each once.
    static let all = [messages, pushes]

    /// The messages whose part for Web Push is to be relayed.
    static let fanOuts = OutboxTable(
        of: MessageRow.self, MessageRow.tableName, for: .webpush, urgency: .distribution, { Distribution($0).rawValue },
        fairness: .topicKey)
    /// The pushes for Web Push.
    static let blocks = OutboxTable(
        of: PushRow.self, PushRow.tableName, for: .webpush, urgency: .urgency, { $0.rawValue }, fairness: .fairnessKey)

    private init<Row: OutboxRow>(
        of row: Row.Type, _ name: String, for transport: PushTransport = .fcm, urgency: Row.Column,
        _ urgencyValue: @escaping @Sendable (Urgency) -> String, fairness: Row.Column
    ) {
        self.name = name
        self.transport = transport
        dueColumn = (transport == .webpush ? row.delivery.webpushAttempt : row.delivery.nextAttempt).stringValue
        columns = Row.Column.list
        keyColumn = row.keyColumn.stringValue
        urgencyColumn = urgency.stringValue
        fairnessColumn = fairness.stringValue
        self.urgencyValue = urgencyValue
        updates = Updates(
            settle: """
                UPDATE \(name) SET \(Row.Column.assignments(row.turnColumns))
                WHERE \(row.keyColumn.stringValue) = ? AND leaseOwner = ? AND leaseUntil = ?
                """,
            replace: """
                UPDATE \(name) SET \(Row.Column.assignments(row.recordColumns)) WHERE \(row.keyColumn.stringValue) = ?
                """)
    }

    /// The table of a key's items in a queue, and the key as it is stored.
    static func of(_ key: FairnessKey, in queue: OutboxQueue) -> (table: OutboxTable, value: DatabaseValue) {
        switch key {
        case .topic(let topic): (queue == .fcm ? messages : fanOuts, topic.databaseValue)
        case .named(let name): (queue == .fcm ? pushes : blocks, name.databaseValue)
        }
    }

    /// Leases the due rows of one key, the longest waiting first.
    ///
    /// - Returns: The rows with the lease. An unreadable row does not block the others while its lease lasts.
    func lease<Leased: OutboxRow>(
        _ urgency: Urgency, of key: DatabaseValue, for lease: Lease, now: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> [Leased] {
        let select = try database.cachedStatement(
            sql: """
                SELECT \(columns), rowid FROM \(name)
                WHERE \(dueColumn) <= ? AND \(urgencyColumn) = ? AND \(fairnessColumn) = ?
                    AND (leaseUntil IS NULL OR leaseUntil <= ?)
                ORDER BY \(dueColumn) LIMIT ?
                """)
        let rows = try Row.fetchAll(select, arguments: [now, urgencyValue(urgency), key, now, limit])
        guard !rows.isEmpty else { return [] }
        let places = rows.map { row in
            // The column after the row's.
            let place: Int64 = row[Leased.Column.allCases.count]
            return String(place)
        }
        let update = try database.cachedStatement(
            sql: """
                UPDATE \(name) SET leaseOwner = ?, leaseUntil = ?, \(dueColumn) = ?
                WHERE rowid IN (SELECT value FROM json_each(?))
                """)
        try update.execute(arguments: [lease.owner, lease.until, lease.until, "[\(places.joined(separator: ","))]"])
        return rows.map { row in
            var leased = Leased(row)
            leased.setLease(lease, for: transport)
            return leased
        }
    }

    /// Releases all leases of an owner, as ``DeliveryRecord/releaseLease(at:)`` does.
    func releaseLeases(of owner: String, now: UnixMilliseconds, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE \(name) SET leaseOwner = NULL, leaseUntil = NULL,
                    nextAttempt = CASE WHEN webpushAttempt IS NULL OR nextAttempt = leaseUntil THEN :now ELSE nextAttempt END,
                    webpushAttempt = CASE WHEN webpushAttempt = leaseUntil THEN :now ELSE webpushAttempt END
                WHERE nextAttempt IS NOT NULL AND leaseOwner = :owner
                """,
            arguments: ["now": now, "owner": owner])
    }

    /// Expired rows that are not leased, in the order of their expiry.
    func expired(
        by now: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> [(key: ObjectID, expires: UnixMilliseconds)] {
        let select = try database.cachedStatement(
            sql: """
                SELECT \(keyColumn) AS key, expires FROM \(name)
                WHERE nextAttempt IS NOT NULL AND expires <= :now AND (leaseUntil IS NULL OR leaseUntil <= :now)
                ORDER BY expires LIMIT :limit
                """)
        return try Row.fetchAll(select, arguments: ["now": now, "limit": limit]).compactMap { row in
            ObjectID.fromDatabaseValue(row["key"]).map { ($0, row["expires"]) }
        }
    }

    /// When the first outstanding row expires, leased or not.
    func nextExpiry(in database: Database) throws -> UnixMilliseconds? {
        try UnixMilliseconds.fetchOne(
            database.cachedStatement(
                sql: "SELECT expires FROM \(name) WHERE nextAttempt IS NOT NULL ORDER BY expires LIMIT 1"))
    }

    /// Rows whose next attempt by the transport is after the first time, and at the second time at the latest.
    func waiting(after now: UnixMilliseconds, until end: UnixMilliseconds, in database: Database) throws -> RowCursor {
        try Row.fetchCursor(
            database, sql: "SELECT \(columns) FROM \(name) WHERE \(dueColumn) > ? AND \(dueColumn) <= ?", arguments: [now, end])
    }
}

/// A fairness key with due rows.
struct DueKey {
    /// The key as it is stored.
    let key: DatabaseValue
    /// Since when it has a due row.
    let due: Int64
}

/// A key as it is stored. Two texts are the same key if their bytes are, as in SQLite. `DatabaseValue` alone compares them by
/// canonical equivalence.
private struct StoredKey: Hashable {
    let value: DatabaseValue
    private let text: ExactText?

    init(_ value: DatabaseValue) {
        self.value = value
        text = String.fromDatabaseValue(value).map { ExactText($0) }
    }
}

/// Two searches for the keys with due rows.
extension OutboxTable {
    /// Skips from one key to the next in an index. The cost depends on the number of keys with outstanding rows, due or not.
    ///
    /// - Parameter maxKeys: The maximum number of keys with outstanding rows.
    /// - Returns: `nil` if there are more of these keys.
    func dueKeys(
        _ urgency: Urgency, now: UnixMilliseconds, among maxKeys: Int = .max, in database: Database
    ) throws -> [DueKey]? {
        let select = try database.cachedStatement(
            sql: """
                WITH RECURSIVE
                    one(key) AS (
                        SELECT MIN(\(fairnessColumn)) FROM \(name) WHERE \(dueColumn) IS NOT NULL AND \(urgencyColumn) = :urgency
                        UNION ALL
                        SELECT (
                            SELECT MIN(\(fairnessColumn)) FROM \(name)
                            WHERE \(dueColumn) IS NOT NULL AND \(urgencyColumn) = :urgency AND \(fairnessColumn) > key)
                        FROM one WHERE key IS NOT NULL
                        LIMIT :maxKeys),
                    first(key, due) AS (
                        SELECT key, (
                            SELECT MIN(\(dueColumn)) FROM \(name)
                            WHERE \(dueColumn) IS NOT NULL AND \(urgencyColumn) = :urgency AND \(fairnessColumn) = key)
                        FROM one)
                SELECT key, due FROM first WHERE key IS NULL OR due <= :now
                """)
        let rows = try Row.fetchAll(select, arguments: ["urgency": urgencyValue(urgency), "now": now, "maxKeys": maxKeys])
        // NULL follows the last key.
        let keys = rows.filter { !$0.hasNull(atIndex: 0) }
        return keys.count == rows.count ? nil : keys.map { DueKey(key: $0["key"], due: $0["due"]) }
    }

    /// When the first outstanding row becomes due. Needs an index by time.
    func nextDueByTime(_ urgency: Urgency, in database: Database) throws -> UnixMilliseconds? {
        try UnixMilliseconds.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT \(dueColumn) FROM \(name) WHERE \(dueColumn) IS NOT NULL AND \(urgencyColumn) = ?
                    ORDER BY \(dueColumn) LIMIT 1
                    """), arguments: [urgencyValue(urgency)])
    }

    /// When the first outstanding row becomes due. The cost depends on the number of keys with outstanding rows.
    func nextDueByKey(_ urgency: Urgency, in database: Database) throws -> UnixMilliseconds? {
        // Every key with an outstanding row.
        try dueKeys(urgency, now: .max, in: database)?.map(\.due).min().map { UnixMilliseconds(rawValue: $0) }
    }

    /// Reads the due rows in the order of time. The cost depends on the number of due rows. Needs an index by time.
    ///
    /// - Parameters:
    ///   - count: The number of keys that are enough.
    ///   - maxPages: The maximum number of pages to read.
    ///   - isWanted: Whether a key counts.
    /// - Returns: The wanted keys, the longest waiting first; `nil` if it has not found enough of them, and there are more rows.
    func dueKeys(
        _ urgency: Urgency, now: UnixMilliseconds, enough count: Int, pages maxPages: Int = .max, in database: Database,
        where isWanted: (DatabaseValue) -> Bool
    ) throws -> [DueKey]? {
        var known: Set<StoredKey> = []
        var keys: [DueKey] = []
        var start: Int64 = 0
        for _ in 0..<maxPages {
            // SQLite skips the rows of known keys: there may be many.
            let sql = """
                SELECT \(fairnessColumn), \(dueColumn) FROM \(name)
                WHERE \(urgencyColumn) = ? AND \(dueColumn) BETWEEN ? AND ?
                    AND \(fairnessColumn) NOT IN (\(known.map { _ in "?" }.joined(separator: ", ")))
                ORDER BY \(dueColumn) LIMIT ?
                """
            // The first page is read often. The others have a statement for each number of keys.
            let statement = try known.isEmpty ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
            let rows = try Row.fetchAll(
                statement,
                arguments: [urgencyValue(urgency), start, now] + StatementArguments(known.map(\.value)) + [Self.page])
            for row in rows where known.insert(StoredKey(row[0])).inserted && isWanted(row[0]) {
                keys.append(DueKey(key: row[0], due: row[1]))
                if keys.count == count { return keys }
            }
            guard rows.count == Self.page, let last = rows.last else { return keys }
            start = last[1]
        }
        return nil
    }

    /// The number of rows that are read at a time.
    private static let page = 1_000
}
