import EmbeddedDatabase
import GRDB
import Schemas
import Time

/// A filter as SQL. It returns rows from the newest to the oldest: by the millisecond of their position, then by `msi_key`.
struct MessageSelection {
    private let tables: String
    private let position: String
    private var conditions: [String] = []
    private var arguments: [any DatabaseValueConvertible] = []
    /// The last returned row. The rest follows it.
    private var last: (millisecond: UnixMilliseconds, msiKey: DatabaseValue)?

    init(_ filter: MessageFilter) {
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
        if let state = filter.state {
            add("state = ?", state.rawValue)
            // This redundant condition lets SQLite use the partial index without relayed messages.
            if state != .relayed { conditions.append("state <> 'relayed'") }
        }
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
        last = (try ArchivePosition.millisecond(of: cursor, in: database), cursor.msiKey.databaseValue)
    }

    /// The next rows; fewer than requested at the end of the archive.
    mutating func next(_ count: Int, in database: Database) throws -> [Row] {
        var rows = try rows(count, where: [], orderedBy: "\(position) DESC", in: database)
        if rows.count == count, let end = rows.last.map({ ArchivePosition.millisecond(of: $0["position"]) }) {
            // The limit may have cut the last millisecond by position. Its rows are read again, by `msi_key`.
            let whole = rows.filter { ArchivePosition.millisecond(of: $0["position"]) > end }
            let atEnd = "\(position) >= \(ArchivePosition.first(of: end)) AND \(position) < \(ArchivePosition.first(of: end + 1))"
            // The plus prevents a scan of the whole index of msi_key.
            rows = whole + (try self.rows(count - whole.count, where: [atEnd], orderedBy: "+msiKey DESC", in: database))
        }
        if let row = rows.last { last = (ArchivePosition.millisecond(of: row["position"]), row["msiKey"]) }
        return rows
    }

    /// The first rows by an SQL order, sorted in the archive's order.
    private func rows(
        _ count: Int, where more: [String], orderedBy order: String, in database: Database
    ) throws -> [Row] {
        var conditions = conditions + more
        var arguments = arguments
        if let last {
            conditions.append("\(position) < \(ArchivePosition.first(of: last.millisecond + 1))")
            // The plus prevents a separate index search for each half.
            conditions.append("(+\(position) < \(ArchivePosition.first(of: last.millisecond)) OR +msiKey < ?)")
            arguments.append(last.msiKey)
        }
        let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return try Row.fetchAll(
            database,
            sql: """
                SELECT * FROM (SELECT message.* FROM \(tables) \(filter) ORDER BY \(order) LIMIT ?)
                ORDER BY position >> \(ArchivePosition.bitsWithinMillisecond) DESC, msiKey DESC
                """,
            arguments: StatementArguments(arguments + [count]))
    }

    private mutating func add(position comparison: String, _ position: Int64) {
        add("\(self.position) \(comparison) ?", position)
    }

    private mutating func add(_ condition: String, _ argument: any DatabaseValueConvertible) {
        conditions.append(condition)
        arguments.append(argument)
    }
}
