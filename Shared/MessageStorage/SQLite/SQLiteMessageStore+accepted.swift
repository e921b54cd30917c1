import EmbeddedDatabase
import GRDB
package import Schemas

extension SQLiteMessageStore {
    package func accepted(_ topics: [TopicKey], after cursor: PageCursor, limit: Int) async throws -> AcceptedPage {
        try await database.read { [unreadable] database in
            let select = try database.cachedStatement(
                sql: """
                    SELECT msiKey, topicKey, distribution, title, desc, message, timestamp, follows, correction, accepted
                    FROM message INDEXED BY messageByAcceptance
                    WHERE accepted >= :time AND (accepted > :time OR msiKey > :key)
                        AND topicKey IN (SELECT value FROM json_each(:topics))
                    ORDER BY accepted, msiKey LIMIT :limit
                    """)
            let rows = try Row.fetchAll(
                select,
                arguments: [
                    "time": cursor.timestamp, "key": cursor.msiKey,
                    "topics": "[\(topics.map { "\"\($0)\"" }.joined(separator: ","))]", "limit": limit,
                ])
            let end = rows.count < limit ? nil : rows.last.map { PageCursor(timestamp: $0["accepted"], msiKey: $0["msiKey"]) }
            let messages = try unreadable.readable(of: rows, named: "msiKey") { try AcceptedRow(row: $0).message }
            return AcceptedPage(messages: messages, end: end)
        }
    }

    package func lastAcceptance() async throws -> UnixMilliseconds? {
        try await database.read { try UnixMilliseconds.fetchOne($0, sql: "SELECT max(accepted) FROM message") }
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

    private enum CodingKeys: String, CodingKey {
        case msiKey, topicKey, distribution, title, desc, timestamp, follows, correction
        case text = "message"
    }

    var message: PhoneMessage {
        PhoneMessage(
            msiKey: msiKey, topicKey: topicKey, distribution: distribution, title: title, desc: desc, message: text,
            timestamp: timestamp, corrects: correction == true ? follows : nil)
    }
}
