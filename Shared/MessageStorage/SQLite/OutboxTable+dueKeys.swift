import GRDB
import JSON
import Schemas

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
                        SELECT MIN(\(fairnessColumn)) FROM \(name) WHERE nextAttempt IS NOT NULL AND \(urgencyColumn) = :urgency
                        UNION ALL
                        SELECT (
                            SELECT MIN(\(fairnessColumn)) FROM \(name)
                            WHERE nextAttempt IS NOT NULL AND \(urgencyColumn) = :urgency AND \(fairnessColumn) > key)
                        FROM one WHERE key IS NOT NULL
                        LIMIT :maxKeys),
                    first(key, due) AS (
                        SELECT key, (
                            SELECT MIN(nextAttempt) FROM \(name)
                            WHERE nextAttempt IS NOT NULL AND \(urgencyColumn) = :urgency AND \(fairnessColumn) = key)
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
            database,
            sql: """
                SELECT nextAttempt FROM \(name) WHERE nextAttempt IS NOT NULL AND \(urgencyColumn) = ?
                ORDER BY nextAttempt LIMIT 1
                """, arguments: [urgencyValue(urgency)])
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
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(fairnessColumn), nextAttempt FROM \(name)
                    WHERE \(urgencyColumn) = ? AND nextAttempt BETWEEN ? AND ?
                        AND \(fairnessColumn) NOT IN (\(known.map { _ in "?" }.joined(separator: ", ")))
                    ORDER BY nextAttempt LIMIT ?
                    """,
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
