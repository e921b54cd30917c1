import EmbeddedDatabase
import GRDB
import Schemas

/// The table `pendingAudit`: entries that the audit log has not acknowledged. Rows are added at its end, since newer messages have
/// greater keys, and removed from its beginning.
enum PendingAuditTable {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("message.audit") { database in
            try database.create(table: "messageAudit", options: .withoutRowID) { table in
                table.column("msiKey", .text).notNull()
                table.column("id", .text).notNull()
                table.column("action", .text).notNull()
                table.column("at", .integer).notNull()
                table.column("actor", .text)
                table.column("address", .text)
                table.primaryKey(["msiKey", "id"])
            }
        }
        migrator.registerMigration("message.pendingAudit") { database in
            try database.create(table: "pendingAudit", options: .withoutRowID) { table in
                table.column("msiKey", .text).notNull()
                table.column("id", .text).notNull()
                table.column("entry", .text).notNull()
                table.column("refused", .boolean).notNull().defaults(to: false)
                table.primaryKey(["msiKey", "id"])
            }
            try database.execute(
                sql: """
                    INSERT INTO pendingAudit (msiKey, id, entry)
                    SELECT msiKey, id, json_object(
                        'id', id, 'action', action, 'at', at, 'actor', actor, 'address', address,
                        'object', json_object('kind', 'message', 'id', msiKey))
                    FROM messageAudit
                    """)
            try database.drop(table: "messageAudit")
        }
    }

    static func add(_ entry: PendingAuditEntry, in database: Database) throws {
        let insert = try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO pendingAudit (msiKey, id, entry, refused) VALUES (?, ?, ?, ?)")
        try insert.execute(arguments: [entry.msiKey, entry.id, entry.json, entry.isRefused])
    }

    /// The oldest entries that were not refused.
    static func first(_ limit: Int, in database: Database) throws -> [PendingAuditEntry] {
        try entries("NOT refused AND \(isEntry) ORDER BY msiKey, id LIMIT ?", [limit], in: database)
    }

    static func page(after last: ObjectID?, limit: Int, in database: Database) throws -> [PendingAuditEntry] {
        try entries("id > ? AND \(isEntry) ORDER BY id LIMIT ?", [last?.description ?? "", limit], in: database)
    }

    static func remove(_ entries: [PendingAuditEntry], in database: Database) throws {
        let delete = try database.cachedStatement(sql: "DELETE FROM pendingAudit WHERE msiKey = ? AND id = ?")
        for entry in entries { try delete.execute(arguments: [entry.msiKey, entry.id]) }
    }

    static func refuse(_ entry: PendingAuditEntry, in database: Database) throws {
        try database.execute(
            sql: "UPDATE pendingAudit SET refused = TRUE WHERE msiKey = ? AND id = ?", arguments: [entry.msiKey, entry.id])
    }

    static func backlog(in database: Database) throws -> AuditBacklog {
        let waiting = try Row.fetchOne(
            database,
            sql: "SELECT count(*), min(id) FROM (SELECT id FROM pendingAudit WHERE NOT refused AND \(isEntry) LIMIT ?)",
            arguments: [AuditBacklog.maxCounted])
        let refused = try Int.fetchOne(database, sql: "SELECT count(*) FROM pendingAudit WHERE refused")
        return AuditBacklog(
            count: waiting?[0] ?? 0, oldest: (waiting?[1] as ObjectID?)?.created, refused: refused ?? 0)
    }

    /// The condition for rows of the product: another program may have inserted others.
    private static let isEntry =
        ["msiKey", "id"].map { "length(\($0)) = 24 AND \($0) NOT GLOB '*[^0-9a-f]*'" }.joined(separator: " AND ")

    private static func entries(
        _ condition: String, _ arguments: StatementArguments, in database: Database
    ) throws -> [PendingAuditEntry] {
        let select = try database.cachedStatement(
            sql: "SELECT msiKey, id, CAST(entry AS TEXT) AS entry, refused FROM pendingAudit WHERE \(condition)")
        return try Row.fetchAll(select, arguments: arguments).map {
            PendingAuditEntry(id: $0["id"], msiKey: $0["msiKey"], json: $0["entry"], isRefused: $0["refused"])
        }
    }
}
