import Store
import GRDB
package import Schemas

extension SQLiteMessageStore {
    package func accepted(
        _ topics: [TopicKey], after cursor: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage {
        try await page(limit: limit, checkStillWanted) { database in
            try AcceptedRow.rows(of: topics, after: cursor, limit: limit, in: database)
        }
    }

    package func accepted(
        after cursor: PageCursor, limit: Int, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> AcceptedPage {
        try await page(limit: limit, checkStillWanted) { database in
            try AcceptedRow.rows(after: cursor, limit: limit, in: database)
        }
    }

    private func page(
        limit: Int, _ checkStillWanted: @escaping @Sendable () throws -> Void,
        _ read: @escaping @Sendable (Database) throws -> [Row]
    ) async throws -> AcceptedPage {
        try await phoneReaders.read(from: database, checkStillWanted: checkStillWanted) { [unreadable] database in
            let rows = try read(database)
            let end = rows.count < limit ? nil : rows.last.map { PageCursor(timestamp: $0["accepted"], msiKey: $0["msiKey"]) }
            let messages = try unreadable.readable(of: rows, named: "msiKey") { try AcceptedRow($0).message }
            return AcceptedPage(messages: messages, end: end)
        }
    }

    package func lastAcceptance() async throws -> UnixMilliseconds? {
        try await database.read {
            // Without the condition SQLite would not use the index, and read the whole archive.
            try UnixMilliseconds.fetchOne($0, sql: "SELECT max(accepted) FROM message WHERE accepted IS NOT NULL")
        }
    }
}

/// A message as phones have it, with its time in the acceptance order.
private struct AcceptedRow {
    private enum Column: Int, RowColumn {
        case msiKey, topicKey, distribution, title, desc, message, timestamp, correction, follows, options, accepted
    }

    private static let columns = Column.list

    private let values: ColumnValues<Column>

    init(_ row: Row) {
        values = ColumnValues(row)
    }

    var message: AcceptedMessage {
        get throws(UnreadableRow) {
            let isCorrection: Bool? = try values.optional(.correction)
            let options: DeliveryOptions? = try values.optionalJSON(.options)
            return AcceptedMessage(
                accepted: try values.value(.accepted),
                message: PhoneMessage(
                    msiKey: try values.value(.msiKey), topicKey: try values.value(.topicKey),
                    distribution: try values.value(.distribution), title: try values.value(.title),
                    desc: try values.value(.desc), message: try values.value(.message), timestamp: try values.value(.timestamp),
                    corrects: isCorrection == true ? try values.optional(.follows) : nil, link: options?.link))
        }
    }

    /// The first rows of all topics after a cursor.
    static func rows(after cursor: PageCursor, limit: Int, in database: Database) throws -> [Row] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT \(columns) FROM message INDEXED BY messageByAcceptance WHERE \(isAfter)
                ORDER BY accepted, msiKey LIMIT :limit
                """,
            arguments: ["time": cursor.timestamp, "key": cursor.msiKey, "limit": limit])
    }

    /// The first rows of topics after a cursor. SQLite reads each topic's messages in order, and only as many as the limit needs.
    static func rows(of topics: [TopicKey], after cursor: PageCursor, limit: Int, in database: Database) throws -> [Row] {
        let first = try firstTopics(of: topics, after: cursor, limit: limit, in: database)
        guard !first.isEmpty else { return [] }
        let parts = first.map { "SELECT position, accepted, msiKey FROM \(messages(of: "'\($0)'"))" }
        return try Row.fetchAll(
            database,
            sql: """
                SELECT \(columns) FROM message WHERE position IN (
                    SELECT position FROM (\(parts.joined(separator: " UNION ALL ")) ORDER BY accepted, msiKey LIMIT :limit))
                ORDER BY accepted, +msiKey
                """,
            arguments: ["time": cursor.timestamp, "key": cursor.msiKey, "limit": limit])
    }

    /// The topics of which a page can have messages: no more topics than messages, those with the first ones.
    private static func firstTopics(
        of topics: [TopicKey], after cursor: PageCursor, limit: Int, in database: Database
    ) throws -> [TopicKey] {
        // One search in the index for each topic. The cursor is a text that sorts in acceptance order.
        try TopicKey.fetchAll(
            database,
            sql: """
                SELECT topicKey FROM (
                    SELECT value AS topicKey, (
                        SELECT printf('%015d', accepted) || msiKey FROM \(messages(of: "topic.value"))
                        ORDER BY accepted, msiKey LIMIT 1
                    ) AS cursor
                    FROM json_each(:topics) AS topic)
                WHERE cursor IS NOT NULL ORDER BY cursor LIMIT :limit
                """,
            arguments: [
                "topics": "[\(Set(topics).map { "\"\($0)\"" }.joined(separator: ","))]", "time": cursor.timestamp,
                "key": cursor.msiKey, "limit": limit,
            ])
    }

    /// The messages of a topic after a cursor.
    private static func messages(of topic: String) -> String {
        "message INDEXED BY messageByTopicAndAcceptance WHERE topicKey = \(topic) AND \(isAfter)"
    }

    private static let isAfter = "accepted >= :time AND (accepted > :time OR msiKey > :key)"
}
