/// An entry for the audit log as a service stores it, until the audit log has acknowledged it.
package struct PendingAuditEntry: Hashable, Sendable, Identifiable {
    /// The id of the ``AuditEntry``.
    package let id: ObjectID
    /// The JSON of the ``AuditEntry``. Another program may have damaged it.
    package let json: String

    package init(id: ObjectID, json: String) {
        self.id = id
        self.json = json
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

/// A store whose changes are audited. It stores an audit entry with each change, in the same write.
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
