import JSON
import Schemas

extension AuditEntry {
    /// Stands in the audit log for an entry that it refuses, or that is damaged.
    static func substitute(for entry: PendingAuditEntry, because reason: String) -> AuditEntry {
        let message = entry.msiKey.map { AuditObject(kind: "message", id: "\($0)") }
        return AuditEntry(
            id: entry.id, at: entry.id.created, by: .program, action: "audit.substitute",
            object: message ?? AuditObject(kind: "entry", id: "\(entry.id)"),
            after: ["entry": .string(entry.json), "reason": .string(reason)])
    }
}
