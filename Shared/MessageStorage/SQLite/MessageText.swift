import GRDB
import Schemas

/// The full-text index: a contentless FTS5 table, which stores no copy of the text.
///
/// Its input is ``SearchWords``, already split into words. So its tokenizer is `ascii`, which treats every non-ASCII character as
/// part of a word.
enum MessageText {
    static func createTable(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE VIRTUAL TABLE messageText
                USING fts5(words, content='', detail='none', columnsize=0, tokenize='ascii', prefix='2 3')
                """)
    }

    /// - Parameter words: The message's words from ``words(of:)``.
    static func add(_ words: String, at position: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(sql: "INSERT INTO messageText(rowid, words) VALUES (?, ?)")
        try statement.execute(arguments: [position, words])
    }

    /// Removes an entry. A contentless index needs the words for that.
    static func remove(_ words: String, at position: Int64, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO messageText(messageText, rowid, words) VALUES ('delete', ?, ?)", arguments: [position, words])
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
