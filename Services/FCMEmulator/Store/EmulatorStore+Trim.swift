import GRDB

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
