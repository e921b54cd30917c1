import GRDB
import Schemas

/// The full-text index: SQLite's FTS5, which keeps which words stand in which message, and no copy of the text.
///
/// It is given ``SearchWords`` ready-made, so its own division into words has nothing to do: `ascii` takes every character
/// beyond ASCII for part of a word.
enum MessageText {
    static func createTable(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE VIRTUAL TABLE messageText
                USING fts5(words, content='', detail='none', columnsize=0, tokenize='ascii', prefix='2 3')
                """)
    }

    /// - Parameter words: Those of the message, as ``words(of:)`` puts them.
    static func add(_ words: String, at position: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(sql: "INSERT INTO messageText(rowid, words) VALUES (?, ?)")
        try statement.execute(arguments: [position, words])
    }

    /// An index without the text needs to be told what it has to forget.
    static func remove(_ words: String, at position: Int64, in database: Database) throws {
        try database.execute(
            sql: "INSERT INTO messageText(messageText, rowid, words) VALUES ('delete', ?, ?)", arguments: [position, words])
    }

    /// A query in FTS5's language.
    static func match(_ query: SearchQuery) -> String {
        query.terms.map { "\"\($0.word)\"\($0.isPrefix ? "*" : "")" }.joined(separator: " AND ")
    }

    /// What the index is given of a message.
    static func words(of message: Message) -> String {
        message.searchWords.sorted().joined(separator: " ")
    }

    /// What the index is given of a row, also of one that cannot be read as a message.
    static func words(of row: Row) -> String {
        let texts = ["title", "desc", "message"].compactMap { String.fromDatabaseValue(row[$0]) }
        return Set(texts.flatMap { SearchWords($0) }).sorted().joined(separator: " ")
    }
}
