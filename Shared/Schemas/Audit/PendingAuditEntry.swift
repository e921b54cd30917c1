/// An entry for the audit log as a service stores it, until the audit log has acknowledged it.
package struct PendingAuditEntry: Hashable, Sendable, Identifiable {
    /// The id of the ``AuditEntry``.
    package let id: ObjectID
    /// The message that the entry is about; `nil` in the cube.
    package let msiKey: ObjectID?
    /// The JSON of the ``AuditEntry``. Another program may have damaged it.
    package let json: String
    /// Whether the audit log has another entry in its place, because this one was refused or is damaged.
    package let isRefused: Bool

    package init(id: ObjectID, msiKey: ObjectID? = nil, json: String, isRefused: Bool = false) {
        self.id = id
        self.msiKey = msiKey
        self.json = json
        self.isRefused = isRefused
    }
}

/// The entries that a service has not brought to the audit log.
package struct AuditBacklog: Hashable, Sendable {
    /// The maximum number of entries that are counted, since counting takes time.
    package static let maxCounted = 10_000

    /// The number of entries that wait, at most ``maxCounted``.
    package var count: Int
    /// When the oldest of them was made.
    package var oldest: UnixMilliseconds?
    /// The number of refused entries.
    package var refused: Int

    package init(count: Int = 0, oldest: UnixMilliseconds? = nil, refused: Int = 0) {
        self.count = count
        self.oldest = oldest
        self.refused = refused
    }
}

/// A store whose changes belong into the audit log. It stores an entry with each change, in the same write.
///
/// Every method throws ``CommandFailure`` with status `unavailable` if the database is unreachable.
package protocol AuditSource: Sendable {
    /// The oldest entries that the audit log has neither acknowledged nor refused.
    func pendingAudit(limit: Int) async throws -> [PendingAuditEntry]

    /// Removes entries that the audit log contains.
    func acknowledgeAudit(_ entries: [PendingAuditEntry]) async throws

    /// Sets an entry aside that the audit log refuses. ``pendingAudit(limit:)`` leaves it out from then on.
    func refuseAudit(_ entry: PendingAuditEntry) async throws

    func auditBacklog() async throws -> AuditBacklog
}

/// A store of which `msi migrate` moves the entries to another one.
package protocol MovableAuditSource: AuditSource {
    /// All entries, also the refused ones, in the order of their ids.
    ///
    /// - Parameter after: The id of the last one of the previous page.
    func storedAudit(after: ObjectID?, limit: Int) async throws -> [PendingAuditEntry]

    /// Adds the entries of another store. What is there already changes nothing.
    func addPendingAudit(_ entries: [PendingAuditEntry]) async throws
}

extension MovableAuditSource {
    /// Adds all entries of another store.
    package func addPendingAudit(of source: any MovableAuditSource) async throws {
        var last: ObjectID?
        while case let page = try await source.storedAudit(after: last, limit: AuditBacklog.maxCounted), let end = page.last {
            try await addPendingAudit(page)
            last = end.id
        }
    }
}
