import Bus
import Base
import Schemas
import Store

extension PeopleChange {
    /// Uses an access code for an account: gives it what the code grants. Of a code that grants what the account has already, nothing is
    /// used.
    ///
    /// - Parameters:
    ///   - account: As it is stored, or before it is. The caller stores it.
    ///   - field: The request's field with the code, for the failure.
    /// - Throws: ``CommandFailure`` with `forbidden` if the code is unknown or used up, or has expired.
    mutating func useCode(
        _ code: Secret, for account: inout AccountDocument, field: String = "access_code"
    ) throws {
        let query = Query(where: PeopleStore.accessCodeHash == RecoveryCodes.hash(code).description)
        let found = try transaction.page(of: PeopleStore.accessCodes, query, limit: 1).documents.first?.document
        let stored = try transaction.get(account.id, from: PeopleStore.accounts)?.document
        switch found?.grants {
        case .account? where stored != nil, .professor? where account.professor == true: return
        default: break
        }
        guard let found, !found.isUsedUp else {
            throw CommandFailure(.forbidden, "\(field): unknown or used up, or it has expired; ask for another one", field: field)
        }
        try transaction.update(found.id, in: PeopleStore.accessCodes) { $0.used += 1 }
        guard found.grants == .professor else { return }
        account.professor = true
        try record(UseAccessCode.name, .account(account.name), before: stored?.audited, after: account.audited)
    }

    /// Uses a code for the account of a person who is signed in.
    mutating func use(_ code: Secret, by name: AccountName) throws -> AccountDocument {
        var account = try transaction.caller(name)
        try useCode(code, for: &account, field: "code")
        let professor = account.professor
        return try transaction.update(account.id, in: PeopleStore.accounts) { $0.professor = professor }.document
    }

    /// Adds an entry about an access code to the audit log.
    func appendAudit(_ action: String, _ code: AccessCodeDocument, by context: CommandContext) throws {
        let content = try JSONValue(encoding: code.accessCode)
        let isNew = action == AddAccessCode.name
        try transaction.appendAudit([
            AuditEntry(
                at: now, by: context.author, action: action, object: AuditObject(kind: "access_code", id: "\(code.id)"),
                before: isNew ? nil : content, after: isNew ? content : nil)
        ])
    }
}
