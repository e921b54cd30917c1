import Store
import GRDB
import Schemas

extension EmulatorStore {
    /// The range of the archive's positions at one point in time.
    struct ArchiveSpan: Hashable, Sendable {
        /// Exclusive lower bound.
        let after: Int64
        let through: Int64

        /// The number of sends. It is exact, since a message is removed only after the range has moved past it.
        var count: Int64 { through - after }
    }

    /// - Parameter keep: How many sends the archive keeps. Older ones may still be stored.
    func archiveSpan(keeping keep: Int) async throws -> ArchiveSpan {
        try await database.read { database in
            let cleared = try Int64.fetchOne(database, sql: "SELECT cleared FROM archive") ?? 0
            let last = try database.lastPosition()
            return ArchiveSpan(after: max(cleared, last - Int64(keep)), through: last)
        }
    }

    /// A page of the archive, in the order of acceptance.
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

    /// Empties the archive, and deletes messages that no phone waits for.
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

extension Database {
    /// Trims the archive to the newest sends at intervals, and deletes messages that no phone waits for.
    ///
    /// - Parameters:
    ///   - keep: How many sends the archive keeps.
    ///   - last: The position of the send that was just stored.
    func trimArchive(keeping keep: Int, after last: Int64) throws {
        let step = Int64(max(1_000, keep / 10))
        guard last.isMultiple(of: step), case let cleared = last - Int64(keep), cleared > 0 else { return }
        try execute(sql: "UPDATE archive SET cleared = max(cleared, ?)", arguments: [cleared])
        try trimTopics(through: cleared)
        try execute(
            sql: """
                DELETE FROM addressed WHERE position <= ?
                AND position <= (SELECT delivered FROM device WHERE device.id = addressed.device)
                """, arguments: [cleared])
        try execute(
            sql: """
                DELETE FROM message WHERE topic IS NULL AND position <= ?
                AND NOT EXISTS (SELECT * FROM addressed WHERE addressed.position = message.position)
                """, arguments: [cleared])
    }

    /// Deletes, topic by topic, the messages that all subscribers have received: those up to the position of the slowest one.
    private func trimTopics(through cleared: Int64) throws {
        let next = try cachedStatement(sql: "SELECT min(topic) FROM message WHERE topic > ?")
        let behind = try cachedStatement(
            sql: """
                SELECT min(max(after, delivered)) FROM subscription JOIN device ON device.id = subscription.device
                WHERE topic = ? AND (through IS NULL OR through > delivered)
                """)
        let remove = try cachedStatement(sql: "DELETE FROM message WHERE topic = ? AND position <= ?")
        var topic = ""
        while let found = try String.fetchOne(next, arguments: [topic]) {
            let furthestBehind = try Int64.fetchOne(behind, arguments: [found]) ?? cleared
            try remove.execute(arguments: [found, min(cleared, furthestBehind)])
            topic = found
        }
    }

    func hasSubscriber(_ topic: String) throws -> Bool {
        let statement = try cachedStatement(
            sql: "SELECT EXISTS (SELECT * FROM subscription WHERE topic = ? AND through IS NULL)")
        return try Bool.fetchOne(statement, arguments: [topic]) ?? false
    }
}
