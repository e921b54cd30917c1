import EmbeddedDatabase
import GRDB
import Schemas

extension EmulatorStore {
    /// The list of accepted sends, as it stands at one moment.
    struct ArchiveSpan: Hashable, Sendable {
        /// The first position is greater than this.
        let after: Int64
        let through: Int64

        /// How many sends it holds: a message is only ever removed once the list begins after it.
        var count: Int64 { through - after }
    }

    /// - Parameter keep: How many sends the list keeps; older ones may be there still.
    func archiveSpan(keeping keep: Int) async throws -> ArchiveSpan {
        try await database.read { database in
            let cleared = try Int64.fetchOne(database, sql: "SELECT cleared FROM archive") ?? 0
            let last = try database.lastPosition()
            return ArchiveSpan(after: max(cleared, last - Int64(keep)), through: last)
        }
    }

    /// A page of the list, in the order of acceptance.
    ///
    /// - Parameter topic: Only the sends to this topic; `nil` for all.
    func archive(_ span: ArchiveSpan, topic: String?, limit: Int) async throws -> [Stored] {
        try await database.read { database in
            let condition = topic == nil ? "" : "topic = ? AND "
            let statement = try database.cachedStatement(
                sql: "SELECT * FROM message WHERE \(condition)position > ? AND position <= ? ORDER BY position LIMIT ?")
            let bounds: StatementArguments = [span.after, span.through, limit]
            return try Stored.fetch(statement, topic.map { [$0] + bounds } ?? bounds)
        }
    }

    /// Empties the list, and frees what no phone waits for.
    func clearArchive(now: UnixMilliseconds) async throws {
        try await database.write { database in
            let last = try database.lastPosition()
            try database.execute(sql: "UPDATE archive SET cleared = ?", arguments: [last])
            try database.execute(
                sql: """
                    DELETE FROM message WHERE expires <= ? OR (
                        NOT EXISTS (
                            SELECT * FROM subscription JOIN device ON device.id = subscription.device
                            WHERE subscription.topic = message.topic AND after < position
                            AND (through IS NULL OR through >= position) AND delivered < position)
                        AND NOT EXISTS (
                            SELECT * FROM addressed JOIN device ON device.id = addressed.device
                            WHERE addressed.position = message.position AND delivered < message.position))
                    """, arguments: [now])
            try database.execute(sql: "DELETE FROM addressed WHERE position NOT IN (SELECT position FROM message)")
            try database.execute(
                sql: """
                    DELETE FROM subscription WHERE through IS NOT NULL AND NOT EXISTS (
                        SELECT * FROM message WHERE message.topic = subscription.topic AND position > after AND position <= through)
                    """)
        }
    }

    struct Population: Hashable, Sendable {
        let devices: Int
        let subscriptions: Int
    }

    func population() async throws -> Population {
        try await database.read { database in
            Population(
                devices: try Int.fetchOne(database, sql: "SELECT count(*) FROM device") ?? 0,
                subscriptions: try Int.fetchOne(database, sql: "SELECT count(*) FROM subscription WHERE through IS NULL") ?? 0)
        }
    }
}
