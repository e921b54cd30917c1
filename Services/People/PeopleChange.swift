import Bus
import Base
import Schemas
import Store

/// A change of accounts or rights, inside its transaction.
///
/// It collects which credentials have changed, for those who keep copies of them, which tokens of devices have ended, and what changed for
/// the audit log. ``PeopleChanges`` stores them in the same transaction.
struct PeopleChange {
    let transaction: Transaction
    let now: UnixMilliseconds
    /// The OpenID Connect provider that is set up; `nil` if there is none.
    let issuer: String?
    private(set) var credentials: [CredentialChange] = []
    private(set) var records: [Record] = []
    /// Whose tokens of devices end.
    private(set) var ended: [TokenOwner] = []
    private(set) var hasNewTokenKeys = false

    /// What changed, without secrets.
    struct Record: Hashable, Sendable {
        /// Such as `account.update`.
        let action: String
        let object: ChangedObject
        /// `nil` for something new.
        let before: JSONValue?
        /// `nil` for something removed.
        let after: JSONValue?
    }

    enum ChangedObject: Hashable, Sendable {
        case account(AccountName)
        case token(ObjectID)
        /// A key that signs the tokens of devices.
        case tokenKey(String)
    }

    init(_ transaction: Transaction, issuer: String?, now: UnixMilliseconds) {
        self.transaction = transaction
        self.issuer = issuer
        self.now = now
    }

    /// Adds a record for the audit log.
    mutating func record(
        _ action: String, _ object: ChangedObject, before: (some Encodable)? = JSONValue?.none,
        after: (some Encodable)? = JSONValue?.none
    ) throws {
        records.append(
            Record(
                action: action, object: object, before: try before.map { try JSONValue(encoding: $0) },
                after: try after.map { try JSONValue(encoding: $0) }))
    }

    /// Adds a record of something that changes no fields, such as a sign-in.
    mutating func record(_ action: String, _ object: ChangedObject) {
        records.append(Record(action: action, object: object, before: nil, after: nil))
    }

    /// All credentials of an account may have changed.
    ///
    /// - Parameter ended: Whether those that it had have ended for good.
    mutating func credentialsChanged(of account: AccountName, ended: Bool = false) {
        credentials.append(CredentialChange(of: account, ended: ended))
    }

    /// A credential is new, has changed, or has ended for good.
    mutating func credentialChanged(_ hash: CredentialHash, ended: Bool = false) {
        credentials.append(CredentialChange(of: hash, ended: ended))
    }

    /// The tokens of a device, or of all devices of an account, count no longer.
    mutating func endTokens(of owner: TokenOwner) { ended.append(owner) }

    /// Other keys sign the tokens of devices, or their tokens count.
    mutating func tokenKeysChanged() { hasNewTokenKeys = true }
}

/// Who may make a change.
enum CallerRequirement {
    /// An administrator of everything.
    case administrator
    /// The account itself, or an administrator.
    case account(AccountName)
    /// The account itself, or the operator's token.
    case accountOrOperator(AccountName)
}

extension PeopleChange {
    /// Checks once more, in the transaction of the change, that the caller's credential allows it: it may have ended after the gateway
    /// has checked it, for example while a password was hashed. A request without a credential comes from a program of the operator.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` if the credential has ended, `forbidden` if it does not suffice.
    func require(_ requirement: CallerRequirement, of context: CommandContext) throws {
        guard let hash = context.credential else { return }
        let credential: Credential
        do {
            credential = try transaction.credential(hash)
        } catch let failure as CommandFailure where failure.status == .notFound {
            throw CommandFailure(.unauthenticated, "your sign-in or token has just ended")
        }
        guard requirement.allows(credential) else {
            throw CommandFailure(.forbidden, "your sign-in or token does not allow this any more")
        }
    }
}

extension CallerRequirement {
    fileprivate func allows(_ credential: Credential) -> Bool {
        let isAdministrator = credential.rights.contains(.administer) && credential.scope == nil
        return switch self {
        case .administrator: isAdministrator
        case .account(let account): credential.account == account || isAdministrator
        case .accountOrOperator(let account): credential.account == account || credential.isOperator == true
        }
    }
}

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
        case .tokenKey(let id): AuditObject(kind: "token_key", id: id)
        }
    }
}

extension AuditObject {
    static func account(_ name: AccountName) -> AuditObject {
        AuditObject(kind: "account", id: "\(name)")
    }
}
