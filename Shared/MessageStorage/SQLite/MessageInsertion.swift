import EmbeddedDatabase
import GRDB
import Schemas

/// An insert of a message. Its values are prepared in advance, so that the single writer only does the database's work.
struct MessageInsertion: Sendable {
    private let message: Message
    private let audit: PendingAuditEntry?
    private let words: String
    /// The row's values in the order of ``columns``.
    private let values: [DatabaseValue]

    /// All columns except the position, which only the writer knows.
    private static let columns = [
        "id", "msiKey", "title", "desc", "message", "topicKey", "channel", "area", "subject", "distribution", "sender",
        "timestamp", "ttl", "sendAt", "names", "expires", "idempotencyKey", "state", "attempts", "nextAttempt", "leaseOwner",
        "leaseUntil", "components", "trace", "ended", "accepted", "options",
        "delay", "drill", "follows", "correction", "template", "templateValues", "approval",
        "traceparent",
    ]
    private static let insertSQL = """
        INSERT INTO message (position, \(columns.joined(separator: ", ")))
        VALUES (?\(String(repeating: ", ?", count: columns.count)))
        """

    init(_ message: Message, audit: MessageAudit?) throws {
        self.message = message
        self.audit = try audit?.pending(of: message)
        words = MessageText.words(of: message)
        let row = try MessageRow(message, at: 0).databaseDictionary
        values = Self.columns.map { row[$0] ?? .null }
    }

    /// - Returns: The existing message with the same keys, if there is one.
    func run(in database: Database) throws -> Message? {
        if let known = try known(in: database) { return known }
        let position = try ArchivePosition.free(for: message.timestamp, in: database)
        let statement = try database.cachedStatement(sql: Self.insertSQL)
        try statement.execute(arguments: StatementArguments([position.databaseValue] + values))
        try MessageText.add(words, at: position, in: database)
        if let audit { try PendingAuditTable.add(audit, in: database) }
        return nil
    }

    private func known(in database: Database) throws -> Message? {
        let byKey = try database.cachedStatement(sql: "SELECT position FROM message WHERE msiKey = ?")
        if try Int64.fetchOne(byKey, arguments: [message.msiKey]) != nil {
            return try MessageRow.find(message.msiKey, in: database)?.document
        }
        guard let key = message.idempotencyKey else { return nil }
        return try MessageRow.find(key, of: message.sender, in: database)?.document
    }
}
