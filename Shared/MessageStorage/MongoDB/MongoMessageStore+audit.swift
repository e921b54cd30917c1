import MongoDatabase
package import Schemas

extension MongoMessageStore {
    package func pendingAudit(limit: Int) async throws -> [PendingAuditEntry] {
        try await withAudit { try $0.pendingAudit(limit: limit) }
    }

    package func acknowledgeAudit(_ entries: [PendingAuditEntry]) async throws {
        try await withAudit { try $0.acknowledgeAudit(entries) }
    }

    package func refuseAudit(_ entry: PendingAuditEntry) async throws {
        try await withAudit { try $0.refuseAudit(entry) }
    }

    package func auditBacklog() async throws -> AuditBacklog {
        try await withAudit { try $0.auditBacklog() }
    }

    package func storedAudit(after last: ObjectID?, limit: Int) async throws -> [PendingAuditEntry] {
        try await withAudit { try $0.storedAudit(after: last, limit: limit) }
    }

    package func addPendingAudit(_ entries: [PendingAuditEntry]) async throws {
        try await withAudit { try $0.addPendingAudit(entries) }
    }

    private func withAudit<Value: Sendable>(_ body: @escaping @Sendable (MongoConnection) throws -> Value) async throws -> Value {
        try await MongoError.asFailure { try await database.run(body) }
    }
}
