import EmbeddedDatabase
import GRDB
import JSON
package import Schemas

/// The table `audit`: entries that the audit log has not acknowledged.
enum PendingAudit {
    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("audit") { database in
            try database.create(table: "audit") { table in
                table.autoIncrementedPrimaryKey("position")
                table.column("id", .text).notNull().unique()
                table.column("entry", .text).notNull()
            }
        }
        migrator.registerMigration("audit.refused") { database in
            try database.alter(table: "audit") { $0.add(column: "refused", .boolean).notNull().defaults(to: false) }
        }
    }

    static func add(_ entries: [AuditEntry], in database: Database) throws {
        let pending = try entries.map { entry in
            PendingAuditEntry(id: entry.id, json: String(decoding: try JSONCoder.encode(entry), as: UTF8.self))
        }
        try add(pending, in: database)
    }

    static func add(_ entries: [PendingAuditEntry], in database: Database) throws {
        let insert = try database.cachedStatement(sql: "INSERT OR IGNORE INTO audit (id, entry, refused) VALUES (?, ?, ?)")
        for entry in entries { try insert.execute(arguments: [entry.id, entry.json, entry.isRefused]) }
    }

    /// The oldest entries that were not refused.
    static func first(_ limit: Int, in database: Database) throws -> [PendingAuditEntry] {
        try entries("NOT refused AND \(isEntry) ORDER BY position LIMIT ?", [limit], in: database)
    }

    static func page(after last: ObjectID?, limit: Int, in database: Database) throws -> [PendingAuditEntry] {
        try entries("id > ? AND \(isEntry) ORDER BY id LIMIT ?", [last?.description ?? "", limit], in: database)
    }

    static func remove(_ entries: [PendingAuditEntry], in database: Database) throws {
        let delete = try database.cachedStatement(sql: "DELETE FROM audit WHERE id = ?")
        for entry in entries { try delete.execute(arguments: [entry.id]) }
    }

    static func refuse(_ entry: PendingAuditEntry, in database: Database) throws {
        try database.execute(sql: "UPDATE audit SET refused = TRUE WHERE id = ?", arguments: [entry.id])
    }

    static func backlog(in database: Database) throws -> AuditBacklog {
        let waiting = try Row.fetchOne(
            database,
            sql: """
                SELECT count(*), min(id) FROM (SELECT id FROM audit WHERE NOT refused AND \(isEntry) ORDER BY position LIMIT ?)
                """,
            arguments: [AuditBacklog.maxCounted])
        let refused = try Int.fetchOne(database, sql: "SELECT count(*) FROM audit WHERE refused")
        return AuditBacklog(
            count: waiting?[0] ?? 0, oldest: (waiting?[1] as ObjectID?)?.created, refused: refused ?? 0)
    }

    /// The condition for rows of the product: another program may have inserted others.
    private static let isEntry = "length(id) = 24 AND id NOT GLOB '*[^0-9a-f]*'"

    private static func entries(
        _ condition: String, _ arguments: StatementArguments, in database: Database
    ) throws -> [PendingAuditEntry] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT id, CAST(entry AS TEXT) AS entry, refused FROM audit WHERE \(condition)", arguments: arguments)
        return rows.map { PendingAuditEntry(id: $0["id"], json: $0["entry"], isRefused: $0["refused"]) }
    }
}

extension SQLiteCubeStore {
    package func pendingAudit(limit: Int) async throws -> [PendingAuditEntry] {
        try await noPendingAudit.value(at: database.revision) {
            try await database.read { try PendingAudit.first(limit, in: $0) }
        }
    }

    package func acknowledgeAudit(_ entries: [PendingAuditEntry]) async throws {
        try await database.write { try PendingAudit.remove(entries, in: $0) }
    }

    package func refuseAudit(_ entry: PendingAuditEntry) async throws {
        try await database.write { try PendingAudit.refuse(entry, in: $0) }
    }

    package func auditBacklog() async throws -> AuditBacklog {
        try await database.read { try PendingAudit.backlog(in: $0) }
    }

    package func storedAudit(after last: ObjectID?, limit: Int) async throws -> [PendingAuditEntry] {
        try await database.read { try PendingAudit.page(after: last, limit: limit, in: $0) }
    }

    package func addPendingAudit(_ entries: [PendingAuditEntry]) async throws {
        try await database.write { try PendingAudit.add(entries, in: $0) }
    }
}
