import EmbeddedDatabase
import GRDB
import Schemas

/// Finds what the outbox has to take up, by its index: the cost depends on how many topics have something outstanding, and not
/// on how much.
enum DueMessages {
    /// The topics that have messages due, the longest waiting first.
    static func topics(_ distribution: Distribution, now: UnixMilliseconds, in database: Database) throws -> [TopicKey] {
        // From one topic to the next in the index, without a look at the messages in between.
        try TopicKey.fetchAll(
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
    }

    /// The messages of one topic that are due, the longest waiting first.
    static func rows(
        _ distribution: Distribution, of topic: TopicKey, now: UnixMilliseconds, limit: Int, in database: Database
    ) throws -> [MessageRow] {
        try MessageRow
            .filter(
                Column("nextAttempt") <= now && Column("distribution") == distribution.rawValue && Column("topicKey") == topic
            )
            .order(Column("nextAttempt")).limit(limit).fetchAll(database)
    }
}
