import AuditTrail
import Storage

/// The parts that the command handlers share.
struct People: Sendable {
    let store: Storage
    let passwords: PasswordCheck
    let changes: PeopleChanges
    /// The newest entries of the audit log, outside of the database.
    let heads: AuditHeadFile
}
