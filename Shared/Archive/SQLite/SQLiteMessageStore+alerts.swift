import Store
import GRDB
package import Schemas
import Base

/// The Alerts that phones fetch although FCM has not accepted them.
extension SQLiteMessageStore {
    package func dueAlerts(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, maxPerTopic: Int, limit: Int,
        where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message] {
        try await phoneReaders.read(from: database, checkStillWanted: {}) { [unreadable] database in
            var found: [PlacedMessage] = []
            for topic in try WaitingTopic.all(at: now, postedBy: moment, in: database) {
                // This topic and the later ones have only older Alerts.
                if found.count == limit, let last = found.last, last.position > topic.newest { break }
                let rows = try topic.rows(at: now, postedBy: moment, limit: Self.maxReadAlerts, in: database)
                found += try unreadable.first(maxPerTopic, of: rows, where: isWanted)
                found = Array(found.sorted { $0.position > $1.position }.prefix(limit))
            }
            return found.map(\.message)
        }
    }

    package func recalledAlerts(
        since moment: UnixMilliseconds, limit: Int, where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message] {
        try await phoneReaders.read(from: database, checkStillWanted: {}) { [unreadable] database in
            let rows = try Row.fetchCursor(
                database.cachedStatement(
                    sql: """
                        SELECT \(MessageRow.Column.list) FROM message INDEXED BY recalledAlert
                        WHERE state = 'recalled' AND distribution = 'Alert' AND ended >= :moment
                        ORDER BY ended DESC LIMIT :limit
                        """), arguments: ["moment": moment, "limit": Self.maxReadAlerts])
            return try unreadable.first(limit, of: rows, where: isWanted).map(\.message)
        }
    }
}

/// A topic with Alerts that are still to be relayed.
private struct WaitingTopic {
    /// The key as it is stored.
    let key: DatabaseValue
    /// The position of its newest Alert that was posted in time.
    let newest: Int64

    /// The Alerts that are still to be relayed. The index ends with the position, so each topic's Alerts are in the order of time.
    private static let outstanding = """
        message INDEXED BY waitingAlert WHERE nextAttempt IS NOT NULL AND distribution = 'Alert'
        """

    /// The topics, that with the newest Alert first. Skips from one topic to the next in the index.
    static func all(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, in database: Database
    ) throws -> [WaitingTopic] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    WITH RECURSIVE
                        topic(key) AS (
                            SELECT MIN(topicKey) FROM \(outstanding)
                            UNION ALL
                            SELECT (SELECT MIN(topicKey) FROM \(outstanding) AND topicKey > key)
                            FROM topic WHERE key IS NOT NULL),
                        place(key, newest) AS (
                            SELECT key, COALESCE(
                                (SELECT MAX(position) FROM \(outstanding) AND topicKey = key AND position >= :ahead),
                                (SELECT MAX(position) FROM \(outstanding) AND topicKey = key AND position < :after))
                            FROM topic WHERE key IS NOT NULL)
                    SELECT key, newest FROM place WHERE newest IS NOT NULL ORDER BY newest DESC
                    """),
            arguments: ["ahead": ArchivePosition.first(of: now + 1), "after": ArchivePosition.first(of: moment + 1)])
        return rows.map { WaitingTopic(key: $0["key"], newest: $0["newest"]) }
    }

    /// The rows of its Alerts that are due and of which FCM has accepted nothing, the newest first.
    func rows(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> RowCursor {
        // A future attempt is a retry, the end of a lease, or the scheduled time.
        try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT \(MessageRow.Column.list) FROM \(Self.outstanding) AND topicKey = :topic AND state IN ('pending', 'retrying')
                        AND accepted IS NULL AND expires > :now
                        AND (attempts > 0 OR leaseOwner IS NOT NULL OR nextAttempt <= :now OR webpushAttempt <= :now)
                        AND (timestamp <= :moment OR timestamp > :now)
                        AND NOT EXISTS (
                            SELECT 1 FROM json_each(components)
                            WHERE value ->> 'state' = 'accepted' AND value ->> 'component' <> 'webpush')
                    ORDER BY position DESC LIMIT :limit
                    """), arguments: ["topic": key, "now": now, "moment": moment, "limit": limit])
    }
}

/// A message with its place in the order of time.
private struct PlacedMessage {
    let position: Int64
    let message: Message
}

extension UnreadableDocuments {
    /// The first readable messages of rows that satisfy a condition. No further row is read.
    fileprivate func first(
        _ limit: Int, of rows: RowCursor, where isWanted: (Message) -> Bool
    ) throws -> [PlacedMessage] {
        var found: [PlacedMessage] = []
        while found.count < limit, let row = try rows.next() {
            guard let message = try messages(of: [row]).first, isWanted(message) else { continue }
            found.append(PlacedMessage(position: row["position"], message: message))
        }
        return found
    }
}
