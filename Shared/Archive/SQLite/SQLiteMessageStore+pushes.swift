import Store
import GRDB
import Base
package import Schemas

/// Pushes are encoded and decoded outside transactions. With 1,000 recipients that takes milliseconds, in which the single writer
/// could store many messages.
extension SQLiteMessageStore {
    package func insert(_ push: Push) async throws -> Push? {
        let row = try PushRow(push)
        return try await database.write { try row.insert(in: $0) }?.readDocument()
    }

    package func push(_ id: ObjectID) async throws -> Push? {
        try await database.read { try PushRow.find(id, in: $0) }?.readDocument()
    }

    package func push(of sender: String, idempotencyKey: String) async throws -> Push? {
        try await database.read { try PushRow.find(idempotencyKey, of: sender, in: $0) }?.readDocument()
    }

    package func pushes(of sender: String, keyPrefix: String, after last: String?, limit: Int) async throws -> [Push] {
        let rows = try await database.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(PushRow.Column.list) FROM push WHERE sender = ? AND idempotencyKey > ? AND idempotencyKey < ?
                    ORDER BY idempotencyKey LIMIT ?
                    """,
                arguments: [sender, last ?? keyPrefix, Self.end(ofKeys: keyPrefix), limit])
            return rows.map { PushRow($0) }
        }
        return try due.pushes.documents(of: rows)
    }

    package func pushes(after last: ObjectID?, limit: Int) async throws -> [Push] {
        let rows = try await database.read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT \(PushRow.Column.list) FROM push WHERE pushID > ? ORDER BY pushID LIMIT ?",
                arguments: [last?.description ?? "", limit])
            return rows.map { PushRow($0) }
        }
        return try due.pushes.documents(of: rows)
    }

    @discardableResult
    package func update(
        push id: ObjectID, _ change: @escaping @Sendable (inout PushRecord, Push) throws -> Void
    ) async throws -> Push? {
        try await pushTurns.take(id) {
            for _ in 0..<Self.maxOptimisticChanges {
                guard let row = try await database.read({ try PushRow.find(id, in: $0) }) else { return nil }
                let (push, new) = try Self.apply(change, to: row)
                // It fails if a claim or an outcome has changed the row since.
                if try await database.write({ try new.replace(row, in: $0) }) { return push }
            }
            // The row changes too often.
            return try await database.write { database in
                guard let row = try PushRow.find(id, in: database) else { return nil }
                let push = try Self.apply(change, to: row).push
                _ = try RowUpdate(push.relay, in: PushRow.self, id).run(in: database)
                return push
            }
        }
    }

    package func removeBlocks(endedBefore moment: UnixMilliseconds, limit: Int) async throws -> Int {
        // The conditions of the index, word for word.
        let ended = """
            SELECT rowid FROM push WHERE transport = 'webpush' AND nextAttempt IS NULL AND ended < ? ORDER BY ended LIMIT ?
            """
        // Without the writer: most of the time there is none.
        let exists = try await database.read { try Row.fetchOne($0, sql: ended, arguments: [moment, 1]) != nil }
        guard exists else { return 0 }
        return try await database.write { database in
            try database.execute(sql: "DELETE FROM push WHERE rowid IN (\(ended))", arguments: [moment, limit])
            return database.changesCount
        }
    }

    /// A change is tried this many times outside a transaction, and then made inside one.
    private static let maxOptimisticChanges = 10

    private static func apply(
        _ change: (inout PushRecord, Push) throws -> Void, to row: PushRow
    ) throws -> (push: Push, row: PushRow) {
        let stored = try row.readDocument()
        var (push, row) = (stored, row)
        try change(&push.relay, stored)
        try row.set(push.relay)
        return (push, row)
    }
}

/// A row of `push`, as it is stored. A change compares it so, which another program may have written in another form.
struct PushRow: OutboxRow {
    /// The columns.
    enum Column: Int, RowColumn {
        case pushID, sender, idempotencyKey, transport, fairnessKey, urgency, message, project, logged, expires, notBefore
        case traceparent, state, attempts, nextAttempt, leaseOwner, leaseUntil, ended, recipients, trace, webpushAttempt
    }

    static let table = OutboxTable.pushes
    static let tableName = "push"
    static let keyColumn = Column.pushID
    static let delivery = DeliveryColumns<Column>(
        state: .state, attempts: .attempts, nextAttempt: .nextAttempt, webpushAttempt: .webpushAttempt, leaseOwner: .leaseOwner,
        leaseUntil: .leaseUntil, ended: .ended, trace: .trace)
    static let partColumns: [Column] = [.recipients]

    var values: ColumnValues<Column>

    static func partValues(_ record: PushRecord) throws -> [DatabaseValue] {
        [try DatabaseValue(json: StoredRecipients(record.recipients))]
    }

    var document: Push {
        get throws(UnreadableRow) {
            Push(
                id: try values.value(.pushID), sender: try values.value(.sender),
                idempotencyKey: try values.value(.idempotencyKey), transport: try values.value(.transport),
                fairnessKey: try values.value(.fairnessKey), message: try values.json(.message),
                urgency: try values.value(.urgency), project: try values.optional(.project), logged: try values.value(.logged),
                expires: try values.value(.expires), notBefore: try values.optional(.notBefore),
                traceparent: try values.optional(.traceparent), relay: try relay)
        }
    }

    private var relay: PushRecord {
        get throws(UnreadableRow) {
            let recipients: StoredRecipients = try values.json(.recipients)
            return PushRecord(
                state: try values.value(.state), attempts: try values.value(.attempts),
                nextAttempt: try values.optional(.nextAttempt), webpushAttempt: try values.optional(.webpushAttempt),
                lease: try lease, ended: try values.optional(.ended), transport: try values.value(.transport),
                recipients: recipients.records, trace: try values.optionalJSON(.trace))
        }
    }
}

extension PushRow {
    init(_ push: Push) throws {
        values = try ColumnValues { try Self.value(of: $0, in: push) }
        try set(push.relay)
    }

    /// The value of a column, except those of the record.
    private static func value(of column: Column, in push: Push) throws -> DatabaseValue {
        switch column {
        case .pushID: push.id.databaseValue
        case .sender: push.sender.databaseValue
        case .idempotencyKey: push.idempotencyKey.databaseValue
        case .transport: push.transport.rawValue.databaseValue
        case .fairnessKey: push.fairnessKey.databaseValue
        case .urgency: push.urgency.rawValue.databaseValue
        case .message: try DatabaseValue(json: push.message)
        case .project: push.project.databaseValue
        case .logged: push.logged.databaseValue
        case .expires: push.expires.databaseValue
        case .notBefore: push.notBefore.databaseValue
        case .traceparent: push.traceparent.databaseValue
        // ``set(_:)`` follows.
        case .state, .attempts, .nextAttempt, .leaseOwner, .leaseUntil, .ended, .recipients, .trace, .webpushAttempt: .null
        }
    }

    private static let insertSQL = """
        INSERT INTO \(tableName) (\(Column.list)) VALUES (\(Column.allCases.map { _ in "?" }.joined(separator: ", ")))
        ON CONFLICT DO NOTHING
        """

    /// Inserts the row.
    ///
    /// - Returns: The existing row with the same keys, if there is one.
    func insert(in database: Database) throws -> PushRow? {
        try database.cachedStatement(sql: Self.insertSQL).execute(arguments: StatementArguments(values.all))
        if database.changesCount == 1 { return nil }
        let (key, sender): (String, String) = (try values.value(.idempotencyKey), try values.value(.sender))
        return try PushRow.find(key, of: sender, in: database) ?? PushRow.find(values.value(.pushID) as ObjectID, in: database)
    }

    private static let replaceSQL = """
        UPDATE \(tableName) SET \(Column.assignments(recordColumns)) WHERE \(keyColumn.stringValue) = ?
        """ + recordColumns.map { " AND \($0.stringValue) IS ?" }.joined()

    /// Replaces the record of a stored row.
    ///
    /// - Parameter read: The row as it was read.
    /// - Returns: `false` if the stored record is another one. Nothing is written then.
    func replace(_ read: PushRow, in database: Database) throws -> Bool {
        let arguments = values[Self.recordColumns] + [values[.pushID]] + read.values[Self.recordColumns]
        try database.cachedStatement(sql: Self.replaceSQL).execute(arguments: StatementArguments(arguments))
        return database.changesCount == 1
    }
}

/// The table `push`: the pushes of other services, with an outbox of the same form as that of messages.
enum PushTables {
    static func create(in database: Database) throws {
        let table = PushRow.tableName
        try database.create(table: table) { table in
            table.column("pushID", .text).notNull().primaryKey()
            table.column("sender", .text).notNull()
            table.column("idempotencyKey", .text).notNull()
            table.column("transport", .text).notNull()
            table.column("fairnessKey", .text).notNull()
            table.column("urgency", .text).notNull()
            table.column("message", .jsonText).notNull()
            table.column("project", .text)
            table.column("logged", .integer).notNull()
            table.column("expires", .integer).notNull()
            table.column("notBefore", .integer)
            table.column("state", .text).notNull()
            table.column("attempts", .integer).notNull()
            table.column("nextAttempt", .integer)
            table.column("leaseOwner", .text)
            table.column("leaseUntil", .integer)
            table.column("ended", .integer)
            table.column("recipients", .jsonText).notNull()
            table.column("trace", .jsonText)
            table.column("traceparent", .text)
        }
        let isOutstanding = Column("nextAttempt") != nil
        try database.create(
            index: "pushByIdempotencyKey", on: table, columns: ["sender", "idempotencyKey"], options: .unique)
        try database.create(index: "pushByTime", on: table, columns: ["logged"])
        try database.create(
            index: "pushOutbox", on: table, columns: ["urgency", "fairnessKey", "nextAttempt"], condition: isOutstanding)
        try database.create(
            index: "pushOutboxByTime", on: table, columns: ["urgency", "nextAttempt", "fairnessKey"], condition: isOutstanding)
        try database.create(index: "pushOutboxByExpiry", on: table, columns: ["expires"], condition: isOutstanding)
    }
}
