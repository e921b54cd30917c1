import EmbeddedDatabase
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
            let messages = try unreadable.readable(of: rows, named: "msiKey") { try AcceptedRow(row: $0).message }
            return AcceptedPage(messages: messages, end: end)
        }
    }

    package func lastAcceptance() async throws -> UnixMilliseconds? {
        try await database.read { try UnixMilliseconds.fetchOne($0, sql: "SELECT max(accepted) FROM message") }
    }

    package func withoutAcceptance(endedSince moment: UnixMilliseconds) async throws -> [ObjectID] {
        try await database.read { database in
            try ObjectID.fetchAll(
                database,
                sql: """
                    SELECT msiKey FROM message WHERE ended >= ? AND accepted IS NULL AND EXISTS (
                        SELECT 1 FROM json_each(components) WHERE value ->> 'component' = ? AND value ->> 'state' = ?)
                    ORDER BY ended
                    """,
                arguments: [moment, Component.data.rawValue, DeliveryState.accepted.rawValue])
        }
    }
}

/// The columns of a message that phones have.
private struct AcceptedRow: FetchableRecord, Decodable {
    let msiKey: ObjectID
    let topicKey: TopicKey
    let distribution: Distribution
    let title: String
    let desc: String
    private let text: String
    let timestamp: UnixMilliseconds
    private let follows: ObjectID?
    private let correction: Bool?
    private let accepted: UnixMilliseconds

    private static let columns = CodingKeys.allCases.map(\.rawValue).joined(separator: ", ")

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case msiKey, topicKey, distribution, title, desc, timestamp, follows, correction, accepted
        case text = "message"
    }

    var message: AcceptedMessage {
        AcceptedMessage(
            accepted: accepted,
            message: PhoneMessage(
                msiKey: msiKey, topicKey: topicKey, distribution: distribution, title: title, desc: desc, message: text,
                timestamp: timestamp, corrects: correction == true ? follows : nil))
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
        // One search in the index for each topic. The place is a text that is ordered like the places.
        try TopicKey.fetchAll(
            database,
            sql: """
                SELECT topicKey FROM (
                    SELECT value AS topicKey, (
                        SELECT printf('%015d', accepted) || msiKey FROM \(messages(of: "topic.value"))
                        ORDER BY accepted, msiKey LIMIT 1
                    ) AS place
                    FROM json_each(:topics) AS topic)
                WHERE place IS NOT NULL ORDER BY place LIMIT :limit
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
