import EmbeddedDatabase
import GRDB

extension EmulatorStore {
    /// What waited for a phone when its stream was opened.
    struct Backlog: Hashable, Sendable {
        /// FCM stores messages under at most so many collapse keys for one phone.
        static let maxKeys = 4

        /// What was accepted after this position found the phone connected, and is its own even if it has expired in the instant
        /// since: a time to live of 0 means now or never.
        let through: Int64
        /// Of the messages up to there with a collapse key, those that are left: the newest one of each of the newest keys.
        let kept: [Int64]
    }

    /// Looks at what waits for a phone.
    ///
    /// - Parameter position: The phone has everything up to here.
    func backlog(for device: Int64, after position: Int64, through last: Int64) async throws -> Backlog {
        try await database.read { database in
            // The newest message by key; one that has expired since has displaced the earlier ones all the same.
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
    /// For a condition `position > ? OR position IN (?, ?, ?, ?)`: no position is 0.
    var arguments: StatementArguments {
        StatementArguments([through] + kept + Array(repeating: 0, count: Self.maxKeys - kept.count))
    }
}

extension [String: Int64] {
    /// Takes up the newest message of each key, as long as another key may matter.
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
