import JSON
import MongoDatabase
package import Schemas

/// The entries that the audit log has not acknowledged: documents of `cube_audit` with the entry's JSON.
extension MongoConnection {
    /// Adds new entries, with one command.
    func addCubeAudit(_ entries: [AuditEntry]) throws {
        guard !entries.isEmpty else { return }
        let documents = try entries.map { entry -> BSONDocument in
            ["_id": entry.id.bson, "entry": .string(String(decoding: try JSONCoder.encode(entry), as: UTF8.self))]
        }
        if let error = try insert(documents, into: CubeCollections.audit).lazy.compactMap(\.self).first { throw error }
    }

    /// Adds the entries of another store. Those that are stored already change nothing.
    func addCubeAudit(_ entries: [PendingAuditEntry]) throws {
        for entry in entries {
            var fields: [(String, BSONValue)] = [("entry", .string(entry.json))]
            if entry.isRefused { fields.append(("refused", true)) }
            _ = try update(
                ["_id": entry.id.bson], ["$setOnInsert": .document(BSONDocument(fields))], in: CubeCollections.audit,
                options: ["upsert": true])
        }
    }

    /// The oldest entries that were not refused.
    func pendingCubeAudit(limit: Int) throws -> [PendingAuditEntry] {
        try cubeAudit(["_id": Self.isEntry, "refused": ["$ne": true]], limit: limit)
    }

    func storedCubeAudit(after last: ObjectID?, limit: Int) throws -> [PendingAuditEntry] {
        let isLater: BSONValue = last.map { ["$gt": $0.bson] } ?? Self.isEntry
        return try cubeAudit(["_id": isLater], limit: limit)
    }

    func removeCubeAudit(_ entries: [PendingAuditEntry]) throws {
        _ = try delete(["_id": ["$in": entries.map(\.id).bson]], from: CubeCollections.audit)
    }

    func refuseCubeAudit(_ entry: PendingAuditEntry) throws {
        _ = try update(["_id": entry.id.bson], ["$set": ["refused": true]], in: CubeCollections.audit)
    }

    func cubeAuditBacklog() throws -> AuditBacklog {
        let waiting = try find(
            ["_id": Self.isEntry, "refused": ["$ne": true]], in: CubeCollections.audit,
            options: ["sort": ["_id": 1], "limit": .int64(Int64(AuditBacklog.maxCounted)), "projection": ["_id": 1]])
        let refused = try find(["refused": true], in: CubeCollections.audit, options: ["projection": ["_id": 1]])
        let oldest = try waiting.first.map { try BSONFields($0).value("_id", as: ObjectID.self) }
        return AuditBacklog(count: waiting.count, oldest: oldest?.created, refused: refused.count)
    }

    /// The condition for `_id` in documents of the product: another program may have inserted others.
    private static let isEntry: BSONValue = ["$type": "objectId"]

    private func cubeAudit(_ filter: BSONDocument, limit: Int) throws -> [PendingAuditEntry] {
        let documents = try find(
            filter, in: CubeCollections.audit, options: ["sort": ["_id": 1], "limit": .int64(Int64(limit))])
        return try documents.map { document in
            let fields = try BSONFields(document)
            return PendingAuditEntry(
                id: try fields.value("_id"), json: (try? fields.value("entry")) ?? (try? document.extendedJSON) ?? "",
                isRefused: (try? fields.optional("refused")) ?? false)
        }
    }
}

extension MongoCubeStore {
    package func pendingAudit(limit: Int) async throws -> [PendingAuditEntry] {
        try await withAudit { try $0.pendingCubeAudit(limit: limit) }
    }

    package func acknowledgeAudit(_ entries: [PendingAuditEntry]) async throws {
        try await withAudit { try $0.removeCubeAudit(entries) }
    }

    package func refuseAudit(_ entry: PendingAuditEntry) async throws {
        try await withAudit { try $0.refuseCubeAudit(entry) }
    }

    package func auditBacklog() async throws -> AuditBacklog {
        try await withAudit { try $0.cubeAuditBacklog() }
    }

    package func storedAudit(after last: ObjectID?, limit: Int) async throws -> [PendingAuditEntry] {
        try await withAudit { try $0.storedCubeAudit(after: last, limit: limit) }
    }

    package func addPendingAudit(_ entries: [PendingAuditEntry]) async throws {
        try await withAudit { try $0.addCubeAudit(entries) }
    }

    private func withAudit<Value: Sendable>(_ body: @escaping @Sendable (MongoConnection) throws -> Value) async throws -> Value {
        try await MongoError.asFailure { try await database.run(body) }
    }
}
