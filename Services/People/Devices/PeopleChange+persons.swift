import Base
import Schemas
import Store

/// How a person has shown who they are.
enum Arrival: Sendable {
    /// By the password of an account, which was right.
    case password(AccountDocument)
    case identity(ProvenIdentity)
}

/// A device that was signed in.
struct BegunDevice: Sendable {
    let person: Person
    let device: DeviceDocument
    let token: TokenToSign
}

/// A token of a device before it is signed, which is done outside of the transaction.
struct TokenToSign: Sendable {
    let claims: DeviceTokenClaims
    private let key: TokenKeyDocument

    init(_ device: DeviceDocument, of account: AccountDocument, by key: TokenKeyDocument, now: UnixMilliseconds) {
        claims = DeviceTokenClaims(
            account: account.name, device: device.id, role: account.role, professor: account.professor == true, issued: now)
        self.key = key
    }

    func signed() throws -> (token: Secret, expires: UnixMilliseconds) {
        (try key.signed(claims), UnixMilliseconds(rawValue: 0) + .seconds(claims.exp))
    }
}

/// The changes that sign-ins and registrations of persons make.
extension PeopleChange {
    /// Signs a person in on a device.
    ///
    /// - Parameter thumbprint: Of the device's key.
    /// - Returns: `nil` if nobody with this identity has an account. What was used to find that out is stored.
    /// - Throws: ``IDTokenRefusal/replayed``. ``CommandFailure``: `unauthenticated` if the account is disabled, or needs another code;
    ///   `forbidden` if it was removed.
    mutating func begin(_ command: BeginDevice, _ arrival: Arrival, thumbprint: String) throws -> BegunDevice? {
        guard let found = try account(of: arrival) else { return nil }
        guard found.removed == nil else {
            throw CommandFailure(.forbidden, "your account \(found.name) was removed; ask a super user")
        }
        guard found.isActive || found.isUnused else {
            throw CommandFailure(.unauthenticated, "the account \(found.name) is disabled", field: command.credential.field)
        }
        let now = now
        var account = try transaction.update(found.id, in: PeopleStore.accounts) { account in
            if account.secondFactor?.isConfirmed == true { try account.secondFactor?.accept(command.credential.code, at: now) }
            account.touch()
            // Of students only the day is stored.
            if !account.role.isStaff { return account.use(at: now) }
            if account.isNews(signInAt: now) { account.signedIn = now }
        }.document
        if case .identity(let identity) = arrival {
            try transaction.remember(identity, of: account, at: now)
            if identity.isProfessor, account.professor != true {
                account = try update(account.name, as: UpdateAccount.name) { $0.professor = true }
            }
        }
        let added = try add(command.device, thumbprint: thumbprint, of: account)
        return BegunDevice(
            person: try transaction.person(of: account), device: added,
            token: TokenToSign(added, of: account, by: try signingKey(), now: now))
    }

    private func account(of arrival: Arrival) throws -> AccountDocument? {
        switch arrival {
        case .password(let checked):
            // Checking takes a while, in which the password may have been replaced.
            guard let account = try transaction.get(checked.id, from: PeopleStore.accounts)?.document,
                account.password == checked.password
            else {
                throw CommandFailure(
                    .unauthenticated, "password: the account has just been changed; try again", field: "password")
            }
            return account
        case .identity(let identity):
            if let used = identity.used { try transaction.use(used) }
            return try transaction.account(of: identity)
        }
    }

    /// Makes the account of a person who registers.
    ///
    /// - Parameters:
    ///   - identity: `nil` for one with a password.
    ///   - createdKey: What a repeated request is recognised by; `nil` if none would be.
    /// - Throws: ``IDTokenRefusal/replayed``. ``CommandFailure``: `conflict` with the field `account` if the name was ever used, and without
    ///   a field if the identity has an account; `forbidden` with the field `access_code` for an unknown code; `unavailable` if the same
    ///   request with a password was done at the same time.
    mutating func register(
        _ command: AddPerson, _ identity: ProvenIdentity?, password: PasswordHash?, createdKey: String?
    ) throws -> Person {
        if let used = identity?.used { try transaction.use(used) }
        if let known = try transaction.registered(command.account, createdKey) {
            // Whether this password is the account's is checked when the request is repeated.
            guard password == nil else {
                throw CommandFailure(.unavailable, "the same request was done just now; repeat it", retryAfter: .seconds(1))
            }
            return known
        }
        if let identity, try transaction.account(of: identity) != nil {
            throw CommandFailure(.conflict, "you have an account already; sign in")
        }
        var account = AccountDocument(
            name: command.account, role: .student, password: password, openID: identity?.openID, created: now)
        account.createdKey = createdKey
        if identity?.isProfessor == true { account.professor = true }
        if let code = command.accessCode { try useCode(code, for: &account) }
        try addStudent(account)
        if let identity { try transaction.remember(identity, of: account, at: now) }
        return try transaction.person(of: account)
    }
}

extension Transaction {
    /// The person of an account that a request has made which is now repeated; `nil` if it is not that request.
    func registered(_ name: AccountName, _ createdKey: String?) throws -> Person? {
        guard let createdKey, let account = try get(name.key, from: PeopleStore.accounts)?.document, account.removed == nil,
            account.createdKey == createdKey
        else { return nil }
        return try person(of: account)
    }
}
