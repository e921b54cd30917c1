import Store
import GRDB
package import Schemas

extension SQLiteMessageStore {
    package func statistics(
        _ command: CountMessages, now: UnixMilliseconds, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> MessageStatistics {
        let empty = MessageStatistics(edges: command.edges)
        guard command.filter.possibleTopics?.isEmpty != true else { return empty }
        return try await historyReaders.read(from: database, checkStillWanted: checkStillWanted) { [unreadable] database in
            let count = MessageCount(command.filter, now: now)
            var statistics = empty
            statistics.states = try count.all(in: database)
            statistics.scheduled = try count.scheduled(in: database)
            let oldest = try count.oldestWaiting(maxUnreadableWaiting, in: database)
            statistics.oldestWaiting = try unreadable.messages(of: oldest).first
            for index in statistics.buckets.indices {
                let bucket = statistics.buckets[index]
                statistics.buckets[index].states = try count.span(
                    from: bucket.from, to: bucket.to, by: command.by, in: database)
            }
            return statistics
        }
    }
}

/// Counts messages by their states. It reads an index with everything that it needs; only messages that wait are read themselves.
struct MessageCount {
    private var conditions: [String] = []
    private var arguments: [any DatabaseValueConvertible] = []
    private let now: UnixMilliseconds

    /// - Parameter filter: Only its channel, area, subject and topics.
    init(_ filter: MessageFilter, now: UnixMilliseconds) {
        self.now = now
        if let topics = filter.possibleTopics {
            conditions.append("topicKey IN (SELECT value FROM json_each(?))")
            arguments.append("[\(topics.map { "\"\($0)\"" }.joined(separator: ","))]")
        }
        // The parts of the topic key, which the indexes contain.
        for (id, start) in [(filter.channel, 1), (filter.area, 26), (filter.subject, 51)] {
            guard let id else { continue }
            conditions.append("substr(topicKey, \(start), 24) = ?")
            arguments.append(id)
        }
    }

    /// All messages.
    func all(in database: Database) throws -> StateCounts {
        try states(of: "message INDEXED BY messageByTime", where: [], [], in: database)
    }

    /// The messages of a span of time.
    func span(
        from: UnixMilliseconds, to: UnixMilliseconds, by time: CountMessages.Time, in database: Database
    ) throws -> StateCounts {
        switch time {
        case .timestamp:
            try states(
                of: "message INDEXED BY messageByTime", where: ["timestamp >= ?", "timestamp < ?"], [from, to], in: database)
        case .ended:
            try states(of: "message INDEXED BY messageByEnd", where: ["ended >= ?", "ended < ?"], [from, to], in: database)
        }
    }

    private func states(
        of table: String, where range: [String], _ bounds: [any DatabaseValueConvertible], in database: Database
    ) throws -> StateCounts {
        let columns = RelayState.allCases.map { "count(*) FILTER (WHERE state = '\($0.rawValue)') AS \($0.rawValue)" }
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table) \(Self.filter(range + conditions))")
        var states = StateCounts()
        guard let row = try Row.fetchOne(statement, arguments: StatementArguments(bounds + arguments)) else { return states }
        for state in RelayState.allCases { states[state] = row[state.rawValue] }
        return states
    }

    /// How many pending messages are scheduled for later.
    func scheduled(in database: Database) throws -> Int {
        let found = Self.filter(["state = 'pending'", Self.isUnended, Self.isScheduled] + conditions)
        return try Int.fetchOne(
            database, sql: "SELECT count(*) FROM message \(found)", arguments: StatementArguments([now, now] + arguments)) ?? 0
    }

    /// The oldest messages that wait and are not scheduled for later.
    func oldestWaiting(_ count: Int, in database: Database) throws -> [Row] {
        let found = Self.filter(["state IN ('pending', 'retrying')", Self.isUnended, "NOT \(Self.isScheduled)"] + conditions)
        return try Row.fetchAll(
            database,
            sql: """
                SELECT \(MessageRow.Column.list) FROM message WHERE position IN (SELECT position FROM message \(found) ORDER BY position LIMIT ?)
                ORDER BY position
                """,
            arguments: StatementArguments([now, now] + arguments + [count]))
    }

    /// This redundant condition lets SQLite use the partial index without relayed messages.
    private static let isUnended = "state <> 'relayed'"

    /// As ``Message/notBefore(at:)``. It has two arguments, both of which are the current time.
    private static let isScheduled = "(coalesce(sendAt, min(timestamp, ?) + delay * 1000, 0) > ?)"

    private static func filter(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    }
}
