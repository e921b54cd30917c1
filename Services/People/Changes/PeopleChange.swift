import JSON
import Schemas
import Storage

/// A change of accounts or rights, inside its transaction.
///
/// It collects which credentials have changed, for those who keep copies of them, and what changed for the audit log. ``PeopleChanges`` stores both in the
/// same transaction.
struct PeopleChange {
    let transaction: Transaction
    let now: UnixMilliseconds
    /// The OpenID Connect provider that is set up; `nil` if there is none.
    let issuer: String?
    private(set) var credentials: [CredentialChange] = []
    private(set) var records: [Record] = []

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
            Record(action: action, object: object, before: try JSONValue(encoding: before), after: try JSONValue(encoding: after))
        )
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
}

extension JSONValue {
    /// A value as it is written in JSON; `nil` for `nil`.
    fileprivate init?(encoding value: (some Encodable)?) throws {
        guard let value else { return nil }
        self = try JSONCoder.decode(from: JSONCoder.encode(value))
    }
}
