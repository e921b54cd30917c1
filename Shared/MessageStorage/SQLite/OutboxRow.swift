import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

/// A row of a table with an outbox.
protocol OutboxRow: FetchableRecord, Sendable {
    static var table: OutboxTable { get }

    // The fields of a ``DeliveryRecord`` except its parts and its trace.
    var state: RelayState { get set }
    var attempts: Int { get set }
    var nextAttempt: UnixMilliseconds? { get set }
    var leaseOwner: String? { get set }
    var leaseUntil: UnixMilliseconds? { get set }
    var ended: UnixMilliseconds? { get set }
}

extension OutboxRow {
    /// The columns that relaying changes, except those of the parts.
    static var deliveryColumns: Set<String> {
        ["state", "attempts", "nextAttempt", "leaseOwner", "leaseUntil", "ended", "trace"]
    }

    var lease: Lease? {
        if let leaseOwner, let leaseUntil { Lease(owner: leaseOwner, until: leaseUntil) } else { nil }
    }

    /// Copies a record's fields except its parts and its trace.
    mutating func setDelivery(_ record: some DeliveryRecord) {
        state = record.state
        attempts = record.attempts
        nextAttempt = record.nextAttempt
        leaseOwner = record.lease?.owner
        leaseUntil = record.lease?.until
        ended = record.ended
    }

    static func find(_ id: ObjectID, in database: Database) throws -> Self? {
        try find("\(table.keyColumn) = ?", [id], in: database)
    }

    /// The row of a sender with an idempotency key.
    static func find(_ key: String, of sender: String, in database: Database) throws -> Self? {
        try find("sender = ? AND idempotencyKey = ?", [sender, key], in: database)
    }

    private static func find(_ condition: String, _ arguments: StatementArguments, in database: Database) throws -> Self? {
        // Cached: each change of a message comes here, and preparing the statement would cost more than running it.
        let select = try database.cachedStatement(sql: "SELECT * FROM \(table.name) WHERE \(condition)")
        let row = try Row.fetchOne(select, arguments: arguments)
        return try row.map { row in
            do {
                return try Self(row: row)
            } catch {
                let name = UnreadableDocuments.name(row[table.keyColumn])
                throw CommandFailure.unreadable(table.name, name, UnreadableRow(error))
            }
        }
    }
}
