import Schemas

extension PeopleChange {
    /// The entries of the audit log for the change.
    func entries(by author: AuditAuthor) -> [AuditEntry] {
        records.map { record in
            AuditEntry(
                at: now, by: author, action: record.action, object: record.object.audited, before: record.before,
                after: record.after)
        }
    }
}

extension PeopleChange.ChangedObject {
    fileprivate var audited: AuditObject {
        switch self {
        case .account(let name): .account(name)
        case .token(let id): AuditObject(kind: "token", id: "\(id)")
        }
    }
}

extension AuditObject {
    static func account(_ name: AccountName) -> AuditObject {
        AuditObject(kind: "account", id: "\(name)")
    }
}
