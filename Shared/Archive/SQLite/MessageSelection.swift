import Store
import GRDB
import Schemas
import Base

/// A filter as SQL. It returns rows from the newest to the oldest: by the millisecond of their position, then by `msi_key`.
struct MessageSelection {
    private let tables: String
    private let position: String
    private var conditions: [String] = []
    private var arguments: [any DatabaseValueConvertible] = []
    /// The conditions for the position, which select a part of the archive.
    private var bounds: [String] = []
    private let topics: Topics
    /// The topics as a JSON array, unless each is read alone.
    private var topicList: String?
    /// The maximum number of ``Topics/merged(_:)``.
    private static let maxMerged = 50
    /// The last returned row. The rest follows it.
    private var last: (millisecond: UnixMilliseconds, msiKey: ObjectID)?

    /// How the messages of the filter's topics are found.
    private enum Topics {
        /// In the order of time, or by another index.
        case inOrder
        /// Read from the index of subjects, topic by topic, and merged in the order of time.
        case merged([TopicKey])
        /// Among the newest messages of the archive. If there are too few, the topics with the newest messages are merged.
        case many([TopicKey])
    }

    init(_ filter: MessageFilter) {
        switch filter.possibleTopics {
        case nil: topics = .inOrder
        case .some(let possible) where possible.count <= Self.maxMerged && filter.text == nil: topics = .merged(possible)
        case .some(let possible):
            topics = filter.isSelective ? .inOrder : .many(possible)
            topicList = Self.json(possible)
        }
        if let text = filter.text {
            // The full-text index returns its rows in the order of their positions.
            tables = "messageText JOIN message ON message.position = messageText.rowid"
            position = "messageText.rowid"
            add("messageText MATCH ?", MessageText.match(text))
        } else {
            tables = "message"
            position = "message.position"
        }
        if let channel = filter.channel { add("channel = ?", channel) }
        if let area = filter.area { add("area = ?", area) }
        if let subject = filter.subject { add("subject = ?", subject) }
        if let sender = filter.sender { add("sender = ?", sender) }
        if let traceID = filter.traceID { add("traceparent IS NOT NULL AND \(MessageTables.traceID) = ?", traceID.description) }
        if let state = filter.state {
            add("state = ?", state.rawValue)
            // This redundant condition lets SQLite use the partial index without relayed messages.
            if state != .relayed { conditions.append("state <> 'relayed'") }
        }
        if filter.rejected == true { conditions.append(Self.isRejected) }
        // The timestamps decide. The positions, which may be a little later, limit the search to a part of the archive.
        if let from = filter.from {
            add("timestamp >= ?", from)
            add(position: ">=", ArchivePosition.first(of: from))
        }
        if let to = filter.to {
            add("timestamp < ?", to)
            add(position: "<", ArchivePosition.first(of: to + ArchivePosition.maxDelay))
        }
    }

    /// Starts after a cursor's message, with older ones.
    mutating func begin(after cursor: PageCursor, in database: Database) throws {
        last = (try ArchivePosition.millisecond(of: cursor, in: database), cursor.msiKey)
    }

    /// The next rows; fewer than requested at the end of the archive.
    mutating func next(_ count: Int, in database: Database) throws -> [Row] {
        var rows = try rows(count, where: [], orderedBy: .position, in: database)
        if rows.count == count, let end = rows.last.map({ ArchivePosition.millisecond(of: $0["position"]) }) {
            // The limit may have cut the last millisecond by position. Its rows are read again, by `msi_key`.
            let whole = rows.filter { ArchivePosition.millisecond(of: $0["position"]) > end }
            let atEnd = "\(position) >= \(ArchivePosition.first(of: end)) AND \(position) < \(ArchivePosition.first(of: end + 1))"
            rows = whole + (try self.rows(count - whole.count, where: [atEnd], orderedBy: .msiKey, in: database))
        }
        if let row = rows.last { last = (ArchivePosition.millisecond(of: row["position"]), row["msiKey"]) }
        return rows
    }

    /// Whether a message needed an approval, and another account than the sender's has recalled it instead. Nothing follows a recall.
    private static let isRejected = """
        state = 'recalled' AND approval AND trace ->> '$[#-1].action' = 'recall' AND trace ->> '$[#-1].by' <> sender
            AND ifnull((
                SELECT value ->> 'action' FROM json_each(trace) WHERE value ->> 'action' IN ('approve', 'edit') ORDER BY key DESC LIMIT 1
            ), '') <> 'approve'
        """

    private enum Order: String {
        case position, msiKey
    }

    /// The first rows by an order, sorted in the archive's order.
    private func rows(
        _ count: Int, where more: [String], orderedBy order: Order, in database: Database
    ) throws -> [Row] {
        let bounds = self.bounds + more + behindLast
        switch topics {
        case .merged(let topics):
            return try rows(of: topics, count, within: bounds, orderedBy: order, in: database)
        case .many(let topics) where order == .position:
            // Most callers may see most topics.
            let newest = try rows(
                from:
                    "(SELECT * FROM message \(Self.filter(bounds)) ORDER BY position DESC LIMIT \(maxSearchedMessages)) AS message",
                count, within: [], orderedBy: order, in: database)
            if newest.count == count { return newest }
            let active = try newestTopics(of: topics, count, within: bounds, in: database)
            return try rows(of: active, count, within: bounds, orderedBy: order, in: database)
        case .many, .inOrder:
            return try rows(from: tables, count, within: bounds, orderedBy: order, in: database)
        }
    }

    /// The conditions for rows behind the last returned one.
    private var behindLast: [String] {
        guard let last else { return [] }
        return [
            "\(position) < \(ArchivePosition.first(of: last.millisecond + 1))",
            // The plus prevents a separate index search for each half.
            "(+\(position) < \(ArchivePosition.first(of: last.millisecond)) OR +msiKey < '\(last.msiKey)')",
        ]
    }

    private func rows(
        from tables: String, _ count: Int, within bounds: [String], orderedBy order: Order, in database: Database
    ) throws -> [Row] {
        // The plus prevents a scan of the whole index of msi_key.
        let column = order == .position ? position : "+msiKey"
        let ofTopics = topicList.map { _ in ["topicKey IN (SELECT value FROM json_each(?))"] } ?? []
        return try sortedRows(
            "\(tables) \(Self.filter(bounds + conditions + ofTopics)) ORDER BY \(column) DESC LIMIT ?",
            arguments + (topicList.map { [$0] } ?? []) + [count], in: database)
    }

    /// Rows of several topics. SQLite reads each topic's messages in order, and only as many as the limit needs.
    private func rows(
        of topics: [TopicKey], _ count: Int, within bounds: [String], orderedBy order: Order, in database: Database
    ) throws -> [Row] {
        guard !topics.isEmpty else { return [] }
        let parts = topics.map { topic in
            "SELECT position, msiKey FROM message INDEXED BY messageBySubject \(ofTopic("'\(topic)'", "'\(topic.subject)'", within: bounds))"
        }
        return try sortedRows(
            """
            message WHERE position IN (
                SELECT position FROM (\(parts.joined(separator: " UNION ALL ")) ORDER BY \(order.rawValue) DESC LIMIT ?))
            """,
            topics.flatMap { _ in arguments } + [count], in: database)
    }

    /// The topics of which a page can have messages: no more topics than messages, those with the newest ones.
    private func newestTopics(
        of topics: [TopicKey], _ count: Int, within bounds: [String], in database: Database
    ) throws -> [TopicKey] {
        // One search in the index for each topic.
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT value AS topicKey, (
                    SELECT position FROM message INDEXED BY messageBySubject
                    \(ofTopic("candidate.value", "substr(candidate.value, 51)", within: bounds)) ORDER BY position DESC LIMIT 1
                ) AS newest
                FROM json_each(?) AS candidate ORDER BY newest DESC LIMIT ?
                """,
            arguments: StatementArguments(arguments + [Self.json(topics), count]))
        return rows.filter { ($0["newest"] as Int64?) != nil }.map { $0["topicKey"] }
    }

    /// The condition for the messages of one topic.
    private func ofTopic(_ topic: String, _ subject: String, within bounds: [String]) -> String {
        // The plus leaves the choice of the index to the subject.
        Self.filter(["subject = \(subject)", "+topicKey = \(topic)"] + bounds + conditions)
    }

    /// The rows of a selection in the archive's order.
    private func sortedRows(
        _ selection: String, _ arguments: [any DatabaseValueConvertible], in database: Database
    ) throws -> [Row] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT \(MessageRow.Column.list) FROM (SELECT message.* FROM \(selection))
                ORDER BY position >> \(ArchivePosition.bitsWithinMillisecond) DESC, msiKey DESC
                """,
            arguments: StatementArguments(arguments))
    }

    private static func filter(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    }

    private static func json(_ topics: [TopicKey]) -> String {
        "[\(topics.map { "\"\($0)\"" }.joined(separator: ","))]"
    }

    private mutating func add(position comparison: String, _ position: Int64) {
        bounds.append("\(self.position) \(comparison) \(position)")
    }

    private mutating func add(_ condition: String, _ argument: any DatabaseValueConvertible) {
        conditions.append(condition)
        arguments.append(argument)
    }
}
