import EmbeddedDatabase
import GRDB
import Schemas

/// The archive in SQLite, one row a message.
struct SQLiteMessageStore: MessageStore {
    private let database: EmbeddedDatabase

    /// - Throws: ``CommandFailure`` with status `unavailable` when the file cannot be used.
    init(path: String) throws {
        database = try EmbeddedDatabase(path: path, durability: .everyCommit, migrations: MessageTables.register)
    }

    func close() throws {
        try database.close()
    }

    func insert(_ message: Message) async throws -> Message? {
        try await database.write { database in
            if let known = try MessageRow.filter(Column("msiKey") == message.msiKey).fetchOne(database) {
                return known.document
            }
            if let key = message.idempotencyKey, let known = try Self.find(key, of: message.sender, in: database) {
                return known.document
            }
            try MessageRow(message).insert(database)
            return nil
        }
    }

    func message(_ msiKey: ObjectID) async throws -> Message? {
        try await database.read { database in
            try MessageRow.filter(Column("msiKey") == msiKey).fetchOne(database)?.document
        }
    }

    func message(of sender: String, idempotencyKey: String) async throws -> Message? {
        try await database.read { try Self.find(idempotencyKey, of: sender, in: $0)?.document }
    }

    func page(before cursor: PageCursor?, limit: Int) async throws -> [Message] {
        try await database.read { database in
            var request = MessageRow.order(Column("timestamp").desc, Column("msiKey").desc).limit(limit)
            if let cursor {
                request = request.filter(
                    sql: "(timestamp, msiKey) < (?, ?)", arguments: [cursor.timestamp, cursor.msiKey.description])
            }
            return try request.fetchAll(database).map(\.document)
        }
    }

    func claim(_ lease: Lease, limit: Int, now: UnixMilliseconds) async throws -> [Message] {
        // A look first: most of the time nothing is due, and then nothing needs to wait for the writer.
        guard try await database.read({ try !Self.due(now).isEmpty($0) }) else { return [] }
        return try await database.write { database in
            try Self.due(now).order(Column("nextAttempt")).limit(limit).fetchAll(database).map { row in
                var row = row
                row.relay.lease = lease
                try row.update(database, columns: MessageRow.relayColumns)
                return row.document
            }
        }
    }

    func update(_ msiKey: ObjectID, _ change: @escaping @Sendable (inout RelayRecord) -> Void) async throws -> Message? {
        try await database.write { database in
            guard var row = try MessageRow.filter(Column("msiKey") == msiKey).fetchOne(database) else { return nil }
            change(&row.relay)
            try row.update(database, columns: MessageRow.relayColumns)
            return row.document
        }
    }

    func releaseLeases(of owner: String) async throws {
        try await database.write { database in
            _ = try MessageRow.filter(Column("nextAttempt") != nil && Column("leaseOwner") == owner)
                .updateAll(database, Column("leaseOwner").set(to: nil), Column("leaseUntil").set(to: nil))
        }
    }

    private static func due(_ now: UnixMilliseconds) -> QueryInterfaceRequest<MessageRow> {
        MessageRow.filter(Column("nextAttempt") <= now && (Column("leaseUntil") == nil || Column("leaseUntil") <= now))
    }

    private static func find(_ key: String, of sender: String, in database: Database) throws -> MessageRow? {
        try MessageRow.filter(Column("sender") == sender && Column("idempotencyKey") == key).fetchOne(database)
    }
}
