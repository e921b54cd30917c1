import GRDB

extension Database {
    /// Shortens the list of accepted sends to the newest ones, every so often as it grows, and frees what no phone waits for.
    ///
    /// - Parameters:
    ///   - keep: How many sends the list keeps.
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

    /// Removes, topic by topic, what all of its subscribers have: everything up to where the one is that is furthest behind.
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

    /// Whether anybody would get a message to a topic.
    func hasSubscriber(_ topic: String) throws -> Bool {
        let statement = try cachedStatement(
            sql: "SELECT EXISTS (SELECT * FROM subscription WHERE topic = ? AND through IS NULL)")
        return try Bool.fetchOne(statement, arguments: [topic]) ?? false
    }
}
