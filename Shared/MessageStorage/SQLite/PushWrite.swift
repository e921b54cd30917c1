import GRDB

/// A write of a push. Its values are encoded in advance, so that the single writer does only the database's work.
struct PushWrite: Sendable {
    private let row: PushRow
    private let values: [String: DatabaseValue]

    init(_ row: PushRow) throws {
        self.row = row
        values = try row.databaseDictionary
    }

    /// Inserts the row.
    ///
    /// - Returns: The existing row with the same keys, if there is one.
    func insert(in database: Database) throws -> PushRow? {
        if let known = try PushRow.find(row.idempotencyKey, of: row.sender, in: database) { return known }
        if let known = try PushRow.find(row.pushID, in: database) { return known }
        let columns = values.keys.sorted()
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try database.execute(
            sql: "INSERT INTO push (\(columns.joined(separator: ", "))) VALUES (\(places))",
            arguments: StatementArguments(columns.map { values[$0] }))
        return nil
    }

    /// Replaces the record of a stored row.
    ///
    /// - Parameter former: The row as it was read; `nil` to replace any record.
    /// - Returns: `false` if the stored record is not the former one. Nothing is written then.
    func replace(_ former: PushWrite?, in database: Database) throws -> Bool {
        let columns = PushRow.relayColumns.sorted()
        let changes = columns.map { "\($0) = ?" }.joined(separator: ", ")
        var conditions = ["pushID = ?"]
        var arguments = StatementArguments(columns.map { values[$0] }) + [row.pushID]
        if let former {
            conditions += columns.map { "\($0) IS ?" }
            arguments += StatementArguments(columns.map { former.values[$0] })
        }
        try database.execute(
            sql: "UPDATE push SET \(changes) WHERE \(conditions.joined(separator: " AND "))", arguments: arguments)
        return database.changesCount == 1
    }
}
