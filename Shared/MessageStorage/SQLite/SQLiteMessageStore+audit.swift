import EmbeddedDatabase
package import Schemas

extension SQLiteMessageStore {
    package func pendingAudit(limit: Int) async throws -> [PendingAuditEntry] {
        try await noPendingAudit.value(at: database.revision) {
            try await database.read { try PendingAuditTable.first(limit, in: $0) }
        }
    }

    package func acknowledgeAudit(_ entries: [PendingAuditEntry]) async throws {
        try await database.write { try PendingAuditTable.remove(entries, in: $0) }
    }

    package func refuseAudit(_ entry: PendingAuditEntry) async throws {
        try await database.write { try PendingAuditTable.refuse(entry, in: $0) }
    }

    package func auditBacklog() async throws -> AuditBacklog {
        try await database.read { try PendingAuditTable.backlog(in: $0) }
    }

    package func storedAudit(after last: ObjectID?, limit: Int) async throws -> [PendingAuditEntry] {
        try await database.read { try PendingAuditTable.page(after: last, limit: limit, in: $0) }
    }

    package func addPendingAudit(_ entries: [PendingAuditEntry]) async throws {
        try await database.write { database in
            for entry in entries { try PendingAuditTable.add(entry, in: database) }
        }
    }
}
