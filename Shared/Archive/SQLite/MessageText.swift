import GRDB
import Schemas

/// The full-text index: a contentless FTS5 table, which stores no copy of the text.
///
/// Its input is ``SearchWords``, already split into words. So its tokenizer is `ascii`, which treats every non-ASCII character as
/// part of a word.
///
/// A message's words are added a moment after the message is stored, by a ``MessageIndexer``. The table `unindexed` has the positions
/// of the messages that wait for that. Every change of the index looks there first: an entry that FTS5 removes without having it
/// damages the index, and one that it gets twice cannot be removed.
enum MessageText {
    static func createTables(in database: Database) throws {
        try database.execute(
            sql: """
                CREATE VIRTUAL TABLE messageText
                USING fts5(words, content='', detail='none', columnsize=0, tokenize='ascii', prefix='2 3');
                CREATE TABLE unindexed (position INTEGER PRIMARY KEY);
                """)
    }

    /// Leaves the words of a new message to a ``MessageIndexer``.
    static func addLater(_ position: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(sql: "INSERT OR IGNORE INTO unindexed(position) VALUES (?)")
        try statement.execute(arguments: [position])
    }

    /// Adds the words of a message that still waits for it.
    ///
    /// - Parameters:
    ///   - words: The message's words from ``words(of:)``; `nil` if there is no such message.
    ///   - msiKey: Its identifier, since its position may have become that of another message.
    static func add(_ words: String?, of msiKey: DatabaseValue, at position: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                DELETE FROM unindexed
                WHERE position = ? AND (SELECT msiKey FROM message WHERE message.position = unindexed.position) IS ?
                """)
        try statement.execute(arguments: [position, msiKey])
        guard database.changesCount == 1, let words else { return }
        try add(words, at: position, in: database)
    }

    /// Replaces the words of a message whose texts have changed.
    static func replace(_ old: String, by new: String, at position: Int64, in database: Database) throws {
        if try !takeUnindexed(position, in: database) {
            guard old != new else { return }
            try removeEntry(old, at: position, in: database)
        }
        // At once: an indexer may have read the old texts.
        try add(new, at: position, in: database)
    }

    /// Removes the words of a message.
    static func remove(_ words: @autoclosure () -> String, at position: Int64, in database: Database) throws {
        guard try !takeUnindexed(position, in: database) else { return }
        try removeEntry(words(), at: position, in: database)
    }

    /// - Returns: Whether the message was waiting for its words to be added.
    private static func takeUnindexed(_ position: Int64, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(sql: "DELETE FROM unindexed WHERE position = ?")
        try statement.execute(arguments: [position])
        return database.changesCount == 1
    }

    private static func add(_ words: String, at position: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(sql: "INSERT INTO messageText(rowid, words) VALUES (?, ?)")
        try statement.execute(arguments: [position, words])
    }

    /// Removes an entry. A contentless index needs the words for that.
    private static func removeEntry(_ words: String, at position: Int64, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO messageText(messageText, rowid, words) VALUES ('delete', ?, ?)")
        try statement.execute(arguments: [position, words])
    }

    /// A query in FTS5's language.
    static func match(_ query: SearchQuery) -> String {
        query.terms.map { term in
            let star = term.isPrefix ? "*" : ""
            let words = term.words.map { "\"\($0)\"" }.joined(separator: " AND ") + star
            return term.joined.map { "((\(words)) OR \"\($0)\"\(star))" } ?? words
        }.joined(separator: " AND ")
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

/// Messages whose words are not in the full-text index yet. Their words are computed when they are read, outside the writer.
struct UnindexedMessages: Sendable {
    private struct Entry: Sendable {
        let position: Int64
        let msiKey: DatabaseValue
        /// `nil` if there is no such message.
        let words: String?
    }

    private let entries: [Entry]

    /// The number of messages.
    var count: Int { entries.count }

    /// The first ones.
    init(first count: Int, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                SELECT unindexed.position, msiKey, title, desc, message
                FROM unindexed LEFT JOIN message ON message.position = unindexed.position
                ORDER BY unindexed.position LIMIT ?
                """)
        entries = try Row.fetchAll(statement, arguments: [count]).map { row in
            let msiKey: DatabaseValue = row["msiKey"]
            return Entry(
                position: row["position"], msiKey: msiKey, words: msiKey.isNull ? nil : MessageText.words(of: row))
        }
    }

    /// Adds the words of those that still wait for it: another process may have added them, and an edit or a removal comes first.
    func addWords(in database: Database) throws {
        for entry in entries { try MessageText.add(entry.words, of: entry.msiKey, at: entry.position, in: database) }
    }

    /// How many there are, counted up to a maximum.
    static func count(upTo max: Int, in database: Database) throws -> Int {
        let statement = try database.cachedStatement(sql: "SELECT count(*) FROM (SELECT 1 FROM unindexed LIMIT ?)")
        return try Int.fetchOne(statement, arguments: [max]) ?? 0
    }
}
