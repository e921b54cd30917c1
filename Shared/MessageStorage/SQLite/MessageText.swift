import GRDB
import Schemas

/// The full-text index: a contentless FTS5 table, which stores no copy of the text.
///
/// Its input is ``SearchWords``, already split into words. So its tokenizer is `ascii`, which treats every non-ASCII character as
/// part of a word.
///
/// An index of an earlier version is made again, beside the service's work: the one row of `messageTextRest` has the position below
/// which messages are in no index yet.
enum MessageText {
    /// Makes an empty index in place of an earlier version's.
    static func createTable(in database: Database) throws {
        try database.execute(
            sql: """
                DROP TABLE IF EXISTS messageText;
                CREATE VIRTUAL TABLE messageText
                USING fts5(words, content='', detail='none', columnsize=0, tokenize='ascii', prefix='2 3');
                DROP TABLE IF EXISTS messageTextRest;
                CREATE TABLE messageTextRest AS SELECT max(position) + 1 AS position FROM message HAVING count(*) > 0
                """)
    }

    /// Whether a message is in the index, or is to be added now.
    private static let isIndexed = "NOT EXISTS (SELECT 1 FROM messageTextRest WHERE position > ?)"

    /// - Parameter words: The message's words from ``words(of:)``.
    static func add(_ words: String, at position: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO messageText(rowid, words) SELECT ?, ? WHERE \(isIndexed)")
        try statement.execute(arguments: [position, words, position])
    }

    /// Removes an entry. A contentless index needs the words for that.
    static func remove(_ words: String, at position: Int64, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO messageText(messageText, rowid, words) SELECT 'delete', ?, ? WHERE \(isIndexed)",
            arguments: [position, words, position])
    }

    /// Whether there may be messages that are in no index yet.
    static func hasRest(in database: Database) throws -> Bool {
        try Int64.fetchOne(database, sql: "SELECT position FROM messageTextRest") != nil
    }

    /// Adds the newest of the messages that are in no index yet.
    ///
    /// - Returns: How many were added; 0 if none is left.
    static func addRest(limit: Int, in database: Database) throws -> Int {
        guard let end = try Int64.fetchOne(database, sql: "SELECT position FROM messageTextRest") else { return 0 }
        let rows = try Row.fetchAll(
            database, sql: "SELECT position, title, desc, message FROM message WHERE position < ? ORDER BY position DESC LIMIT ?",
            arguments: [end, limit])
        guard let last: Int64 = rows.last?["position"] else {
            try database.execute(sql: "DELETE FROM messageTextRest")
            return 0
        }
        try database.execute(sql: "UPDATE messageTextRest SET position = ?", arguments: [last])
        for row in rows { try add(words(of: row), at: row["position"], in: database) }
        return rows.count
    }

    /// A query in FTS5's language.
    static func match(_ query: SearchQuery) -> String {
        query.terms.map { "\"\($0.word)\"\($0.isPrefix ? "*" : "")" }.joined(separator: " AND ")
    }

    /// A message's words for the index.
    static func words(of message: Message) -> String {
        message.searchWords.sorted().joined(separator: " ")
    }

    /// A row's words for the index, even if the row cannot be read as a message.
    static func words(of row: Row) -> String {
        let texts = ["title", "desc", "message"].compactMap { String.fromDatabaseValue(row[$0]) }
        return Set(texts.flatMap { SearchWords($0) }).sorted().joined(separator: " ")
    }
}
