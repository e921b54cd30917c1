import EmbeddedDatabase
import GRDB

extension EmulatorStore {
    /// The messages that waited for a phone when its stream was opened.
    struct Backlog: Hashable, Sendable {
        /// FCM's maximum number of collapse keys for one phone.
        static let maxKeys = 4

        /// Messages after this position were accepted while the phone was connected. It gets them even if they have expired
        /// since: a time to live of 0 means now or never.
        let through: Int64
        /// The messages up to ``through`` with a collapse key that are left: the newest one of each of the newest keys.
        let kept: [Int64]
    }

    /// Finds the messages that wait for a phone.
    ///
    /// - Parameter position: The phone has received everything up to here.
    func backlog(for device: Int64, after position: Int64, through last: Int64) async throws -> Backlog {
        try await database.read { database in
            // The newest message by key. It has replaced the earlier ones even if it has expired since.
            var newest: [String: Int64] = [:]
            let subscriptions = try Row.fetchAll(
                database,
                sql: "SELECT topic, after, through FROM subscription WHERE device = ? AND (through IS NULL OR through > ?)",
                arguments: [device, position])
            let ofTopic = try database.cachedStatement(
                sql: """
                    SELECT position, collapse_key FROM message
                    WHERE topic = ? AND position > ? AND position <= ? AND collapse_key IS NOT NULL ORDER BY position DESC
                    """)
            for subscription in subscriptions {
                let topic: String = subscription["topic"]
                try newest.keep(
                    from: ofTopic,
                    [topic, max(position, subscription["after"]), min(last, subscription["through"] ?? last)])
            }
            let addressed = try database.cachedStatement(
                sql: """
                    SELECT position, collapse_key FROM addressed JOIN message USING (position)
                    WHERE device = ? AND position > ? AND position <= ? AND collapse_key IS NOT NULL ORDER BY position DESC
                    """)
            try newest.keep(from: addressed, [device, position, last])
            return Backlog(through: last, kept: Array(newest.values.sorted(by: >).prefix(Backlog.maxKeys)))
        }
    }
}

extension EmulatorStore.Backlog {
    /// The arguments for `position > ? OR position IN (?, ?, ?, ?)`, padded with 0, which is no position.
    var arguments: StatementArguments {
        StatementArguments([through] + kept + Array(repeating: 0, count: Self.maxKeys - kept.count))
    }
}

extension [String: Int64] {
    /// Adds the newest message of each key until there are enough keys.
    fileprivate mutating func keep(from statement: Statement, _ arguments: StatementArguments) throws {
        var seen: Set<String> = []
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while seen.count < EmulatorStore.Backlog.maxKeys, let row = try rows.next() {
            let key: String = row["collapse_key"]
            guard seen.insert(key).inserted else { continue }
            self[key] = Swift.max(self[key] ?? 0, row["position"])
        }
    }
}
