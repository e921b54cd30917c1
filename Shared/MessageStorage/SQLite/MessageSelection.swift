import EmbeddedDatabase
import GRDB
import Schemas

/// A filter as SQL, which gives rows from the newest to the oldest.
struct MessageSelection {
    private let tables: String
    private let position: String
    private var conditions: [String] = []
    private var arguments: [any DatabaseValueConvertible] = []

    init(_ filter: MessageFilter) {
        if let text = filter.text {
            // The full-text index gives its rows in the order of their positions by itself.
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
        if let state = filter.state {
            add("state = ?", state.rawValue)
            // Written out, so that the index is found which leaves the relayed out.
            if state != .relayed { conditions.append("state <> 'relayed'") }
        }
        // The times themselves decide; the positions, which may be a little later, spare the search the rest of the archive.
        if let from = filter.from {
            add("timestamp >= ?", from)
            add(position: ">=", ArchivePosition.first(of: from))
        }
        if let to = filter.to {
            add("timestamp < ?", to)
            add(position: "<", ArchivePosition.first(of: to + ArchivePosition.latest))
        }
    }

    /// Only what stands before the message that a cursor names, or, where there is none, what sorts before the cursor by
    /// timestamp and `msi_key`.
    mutating func end(before cursor: PageCursor, in database: Database) throws {
        if let position = try ArchivePosition.of(cursor, in: database) {
            add(position: "<", position)
        } else {
            add(position: "<", ArchivePosition.first(of: cursor.timestamp + 1 + ArchivePosition.latest))
            conditions.append("(timestamp, msiKey) < (?, ?)")
            arguments += [cursor.timestamp, cursor.msiKey.description] as [any DatabaseValueConvertible]
        }
    }

    func rows(limit: Int, in database: Database) throws -> [MessageRow] {
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return try MessageRow.fetchAll(
            database, sql: "SELECT message.* FROM \(tables) \(filter) ORDER BY \(position) DESC LIMIT ?",
            arguments: StatementArguments(arguments + [limit]))
    }

    private mutating func add(position comparison: String, _ position: Int64) {
        add("\(self.position) \(comparison) ?", position)
    }

    private mutating func add(_ condition: String, _ argument: any DatabaseValueConvertible) {
        conditions.append(condition)
        arguments.append(argument)
    }
}
