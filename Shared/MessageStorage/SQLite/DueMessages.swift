import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

/// Finds what the outbox has to take up, by its index: the cost depends on how many topics have something outstanding, and not
/// on how much.
enum DueMessages {
    /// The topics that have messages due, the longest waiting first.
    static func topics(
        _ distribution: Distribution, now: UnixMilliseconds, in database: Database, _ unreadable: UnreadableDocuments
    ) throws -> [TopicKey] {
        // From one topic to the next in the index, without a look at the messages in between.
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

    /// Leases the messages of one topic that are due, the longest waiting first.
    ///
    /// - Returns: Their rows as they are then. One that cannot be read is out of the others' way as long as the lease lasts.
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

    /// Messages that have expired and are not leased, the first to expire first.
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

    /// Messages that wait for a moment that is still to come, and that a condition is true of.
    static func waiting(
        after now: UnixMilliseconds, where isWanted: (Message) -> Bool, in database: Database
    ) throws -> [ObjectID] {
        var found: [ObjectID] = []
        let rows = try Row.fetchCursor(database, MessageRow.filter(Column("nextAttempt") > now))
        while let row = try rows.next() {
            // One that cannot be read has no part in the outbox.
            guard let message = try? MessageRow(row: row).document else { continue }
            if isWanted(message) { found.append(message.msiKey) }
        }
        return found
    }
}
