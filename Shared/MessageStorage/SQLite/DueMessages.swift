import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

/// Finds the outbox's due messages by its index. The cost depends on the number of topics with outstanding messages, and not on
/// the number of messages.
enum DueMessages {
    /// The topics with due messages, the longest waiting first.
    static func topics(
        _ distribution: Distribution, now: UnixMilliseconds, in database: Database, _ unreadable: UnreadableDocuments
    ) throws -> [TopicKey] {
        // Skips from one topic to the next in the index, without reading the messages in between.
        let topics = try DatabaseValue.fetchAll(
            database,
            sql: """
                WITH RECURSIVE
                    topic(key) AS (
                        SELECT MIN(topicKey) FROM message WHERE nextAttempt IS NOT NULL AND distribution = :distribution
                        UNION ALL
                        SELECT (
                            SELECT MIN(topicKey) FROM message
                            WHERE nextAttempt IS NOT NULL AND distribution = :distribution AND topicKey > key)
                        FROM topic WHERE key IS NOT NULL),
                    first(key, due) AS (
                        SELECT key, (
                            SELECT MIN(nextAttempt) FROM message
                            WHERE nextAttempt IS NOT NULL AND distribution = :distribution AND topicKey = key)
                        FROM topic WHERE key IS NOT NULL)
                SELECT key FROM first WHERE due <= :now ORDER BY due
                """,
            arguments: ["distribution": distribution.rawValue, "now": now])
        return try unreadable.topics(topics)
    }

    /// Leases the due messages of one topic, the longest waiting first.
    ///
    /// - Returns: Their rows with the lease. An unreadable row does not block the others while its lease lasts.
    static func lease(
        _ distribution: Distribution, of topic: TopicKey, for lease: Lease, now: UnixMilliseconds, limit: Int,
        in database: Database
    ) throws -> [Row] {
        let due = try Int64.fetchAll(
            database,
            sql: """
                SELECT position FROM message WHERE nextAttempt <= ? AND distribution = ? AND topicKey = ?
                ORDER BY nextAttempt LIMIT ?
                """,
            arguments: [now, distribution.rawValue, topic, limit])
        let update = try database.cachedStatement(
            sql: "UPDATE message SET leaseOwner = ?, leaseUntil = ?, nextAttempt = ? WHERE position = ?")
        let select = try database.cachedStatement(sql: "SELECT * FROM message WHERE position = ?")
        return try due.compactMap { position in
            try update.execute(arguments: [lease.owner, lease.until, lease.until, position])
            return try Row.fetchOne(select, arguments: [position])
        }
    }

    /// Expired messages that are not leased, in the order of their expiry.
    static func expired(by now: UnixMilliseconds, limit: Int, in database: Database) throws -> [ObjectID] {
        let found = try DatabaseValue.fetchAll(
            database,
            sql: """
                SELECT msiKey FROM message
                WHERE nextAttempt IS NOT NULL AND expires <= :now AND (leaseUntil IS NULL OR leaseUntil <= :now)
                ORDER BY expires LIMIT :limit
                """,
            arguments: ["now": now, "limit": limit])
        return found.compactMap(ObjectID.fromDatabaseValue)
    }

    /// Messages whose next attempt is in the future and that satisfy a condition.
    static func waiting(
        after now: UnixMilliseconds, where isWanted: (Message) -> Bool, in database: Database
    ) throws -> [ObjectID] {
        var found: [ObjectID] = []
        let rows = try Row.fetchCursor(database, MessageRow.filter(Column("nextAttempt") > now))
        while let row = try rows.next() {
            // An unreadable row is not part of the outbox.
            guard let message = try? MessageRow(row: row).document else { continue }
            if isWanted(message) { found.append(message.msiKey) }
        }
        return found
    }
}
