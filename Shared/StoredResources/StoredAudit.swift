package import Schemas
package import Storage

/// The entries of a store that the audit log has not acknowledged.
package struct StoredAudit: AuditSource {
    private let collection: Collection<StoredAuditEntry>
    private let store: Storage
    /// The oldest entry, or none.
    private let first: @Sendable () async throws -> [StoredAuditEntry]

    /// - Parameter collection: As ``AuditedResource/pendingAudit``.
    package init(_ collection: Collection<StoredAuditEntry>, in store: Storage) {
        self.collection = collection
        self.store = store
        first = store.repeatedPage(of: collection, Query(where: StoredAuditEntry.isRefused == nil), limit: 1)
    }

    package func pendingAudit(limit: Int) async throws -> [PendingAuditEntry] {
        if try await first().isEmpty { return [] }
        return try await entries(refused: nil, limit: limit).map { PendingAuditEntry(id: $0.id, json: $0.entry) }
    }

    /// Another instance of the service may have forwarded them as well.
    package func acknowledgeAudit(_ entries: [PendingAuditEntry]) async throws {
        let collection = collection
        try await store.transaction { transaction in
            for entry in entries where try transaction.get(entry.id, from: collection) != nil {
                try transaction.delete(entry.id, from: collection)
            }
        }
    }

    package func refuseAudit(_ entry: PendingAuditEntry) async throws {
        _ = try await store.update(entry.id, in: collection) { $0.refused = true }
    }

    package func auditBacklog() async throws -> AuditBacklog {
        let waiting = try await entries(refused: nil, limit: AuditBacklog.maxCounted)
        let refused = try await entries(refused: true, limit: AuditBacklog.maxCounted)
        return AuditBacklog(count: waiting.count, oldest: waiting.first?.id.created, refused: refused.count)
    }

    /// The oldest entries.
    ///
    /// - Parameter refused: `nil` for those that were not refused.
    private func entries(refused: Bool?, limit: Int) async throws -> [StoredAuditEntry] {
        try await store.page(of: collection, Query(where: StoredAuditEntry.isRefused == refused), limit: limit)
            .documents.map(\.document)
    }
}
