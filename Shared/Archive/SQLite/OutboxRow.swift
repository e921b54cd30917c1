import Store
import GRDB
import Base
import Schemas

/// A row of a table with an outbox, as it is stored.
protocol OutboxRow: Sendable {
    associatedtype Column: RowColumn
    associatedtype Document
    associatedtype Record: DeliveryRecord

    static var table: OutboxTable { get }
    /// The column with the identifier that callers use.
    static var keyColumn: Column { get }
    /// The columns of the fields that records of both kinds have.
    static var delivery: DeliveryColumns<Column> { get }
    /// The other columns of the record.
    static var partColumns: [Column] { get }

    /// The values of ``partColumns``.
    static func partValues(_ record: Record) throws -> [DatabaseValue]

    var values: ColumnValues<Column> { get set }

    init(values: ColumnValues<Column>)

    var document: Document { get throws(UnreadableRow) }
}

/// The columns of a ``DeliveryRecord`` without its parts.
struct DeliveryColumns<Column: RowColumn>: Sendable {
    let state, attempts, nextAttempt, webpushAttempt, leaseOwner, leaseUntil, ended, trace: Column
}

extension OutboxRow {
    /// - Parameter row: Of a statement that lists all columns first.
    init(_ row: Row) {
        self.init(values: ColumnValues(row))
    }

    /// The document, for a request for this one alone.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict` if it is unreadable.
    func readDocument() throws(CommandFailure) -> Document {
        do {
            return try document
        } catch {
            throw .unreadable(Self.table.name, name, error)
        }
    }

    /// The row's name for the log.
    var name: String { UnreadableDocuments.name(values[Self.keyColumn]) }

    /// The columns that a turn changes: those of the record, except its trace.
    static var turnColumns: [Column] {
        [
            delivery.state, delivery.attempts, delivery.nextAttempt, delivery.webpushAttempt, delivery.leaseOwner,
            delivery.leaseUntil, delivery.ended,
        ] + partColumns
    }

    static func turnValues(_ record: Record) throws -> [DatabaseValue] {
        [
            record.state.rawValue.databaseValue, record.attempts.databaseValue, record.nextAttempt.databaseValue,
            record.webpushAttempt.databaseValue, (record.lease?.owner).databaseValue, (record.lease?.until).databaseValue,
            record.ended.databaseValue,
        ] + (try partValues(record))
    }

    /// The columns of the record.
    static var recordColumns: [Column] { turnColumns + [delivery.trace] }

    static func recordValues(_ record: Record) throws -> [DatabaseValue] {
        try turnValues(record) + [DatabaseValue(optionalJSON: record.trace)]
    }

    /// Replaces the record.
    mutating func set(_ record: Record) throws {
        for (column, value) in zip(Self.recordColumns, try Self.recordValues(record)) { values[column] = value }
    }

    var lease: Lease? {
        get throws(UnreadableRow) {
            let owner: String? = try values.optional(Self.delivery.leaseOwner)
            let until: UnixMilliseconds? = try values.optional(Self.delivery.leaseUntil)
            return if let owner, let until { Lease(owner: owner, until: until) } else { nil }
        }
    }

    /// Sets what a claim changes.
    ///
    /// - Parameter transport: That of the claim's queue.
    mutating func setLease(_ lease: Lease, for transport: PushTransport) {
        values[Self.delivery.leaseOwner] = lease.owner.databaseValue
        values[Self.delivery.leaseUntil] = lease.until.databaseValue
        let due = transport == .webpush ? Self.delivery.webpushAttempt : Self.delivery.nextAttempt
        values[due] = lease.until.databaseValue
    }

    static func find(_ id: ObjectID, in database: Database) throws -> Self? {
        try find("\(table.keyColumn) = ?", [id], in: database)
    }

    /// The row of a sender with an idempotency key.
    static func find(_ key: String, of sender: String, in database: Database) throws -> Self? {
        try find("sender = ? AND idempotencyKey = ?", [sender, key], in: database)
    }

    private static func find(_ condition: String, _ arguments: StatementArguments, in database: Database) throws -> Self? {
        // Cached: preparing the statement would cost more than running it.
        let select = try database.cachedStatement(sql: "SELECT \(table.columns) FROM \(table.name) WHERE \(condition)")
        return try Row.fetchOne(select, arguments: arguments).map { Self($0) }
    }
}

/// Writes a record over a stored one. Its values are encoded in advance, so that the single writer does only the database's work.
struct RowUpdate: Sendable {
    private let sql: String
    private let arguments: StatementArguments

    /// Stores the outcome of a turn. The trace stays.
    ///
    /// - Parameter lease: The lease that the stored record must have.
    init<Row: OutboxRow>(_ record: Row.Record, in row: Row.Type, _ key: ObjectID, leased lease: Lease) throws {
        sql = row.table.updates.settle
        arguments = StatementArguments(
            try row.turnValues(record) + [key.databaseValue, lease.owner.databaseValue, lease.until.databaseValue])
    }

    /// Replaces the record, whatever its lease is.
    init<Row: OutboxRow>(_ record: Row.Record, in row: Row.Type, _ key: ObjectID) throws {
        sql = row.table.updates.replace
        arguments = StatementArguments(try row.recordValues(record) + [key.databaseValue])
    }

    /// - Returns: `false` if there is no such row. Nothing has changed then.
    func run(in database: Database) throws -> Bool {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
        return database.changesCount == 1
    }
}
