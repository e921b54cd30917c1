import EmbeddedDatabase
import GRDB
package import Schemas

/// The Alerts that phones fetch although FCM has not accepted them.
extension SQLiteMessageStore {
    package func dueAlerts(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, limit: Int
    ) async throws -> [Message] {
        try await database.read { [unreadable] database in
            // The index has only what is still to be relayed. A future attempt is a retry, the end of a lease, or the scheduled time.
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT * FROM message INDEXED BY outbox
                        WHERE nextAttempt IS NOT NULL AND distribution = 'Alert' AND state IN ('pending', 'retrying')
                            AND accepted IS NULL AND expires > :now
                            AND (attempts > 0 OR leaseOwner IS NOT NULL OR nextAttempt <= :now)
                            AND (timestamp <= :moment OR timestamp > :now)
                        ORDER BY position DESC LIMIT :limit
                        """), arguments: ["now": now, "moment": moment, "limit": limit])
            return try unreadable.messages(of: rows)
        }
    }

    package func recalledAlerts(since moment: UnixMilliseconds, limit: Int) async throws -> [Message] {
        try await database.read { [unreadable] database in
            let rows = try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT * FROM message INDEXED BY recalledAlert
                        WHERE state = 'recalled' AND distribution = 'Alert' AND ended >= :moment
                        ORDER BY ended DESC LIMIT :limit
                        """), arguments: ["moment": moment, "limit": limit])
            return try unreadable.messages(of: rows)
        }
    }
}
