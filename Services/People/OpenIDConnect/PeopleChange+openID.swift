import Schemas
import Store

/// The outcome of a sign-in at the provider.
enum OpenIDArrival: Sendable {
    case signedIn(Credential)
    /// There is no account yet, and one can be added.
    case newcomer(OpenIDNewcomer)
    /// Disables the account, since the role claim no longer grants a role.
    case disabled(AccountName)
    /// As ``disabled(_:)``, but the account stays enabled, since no other super user can sign in.
    case lastSuperUser(AccountName)
}

/// The changes that a sign-in at the provider makes.
extension PeopleChange {
    /// A person has signed in at the provider.
    ///
    /// - Parameters:
    ///   - rolesAreMapped: Whether the role claim decides about roles.
    ///   - secret: Of the new sign-in.
    /// - Throws: ``CommandFailure``: `forbidden` if there is no account and none can be added, or if it was removed;
    ///   `unauthenticated` if it is disabled or is not that of the sign-in to confirm.
    mutating func arrived(
        _ person: OpenIDPerson, rolesAreMapped: Bool, secret: Secret, address: String
    ) throws -> OpenIDArrival {
        guard let found = try account(of: person.subject) else {
            return .newcomer(try newcomer(person))
        }
        guard found.removed == nil else {
            throw CommandFailure(.forbidden, "your account \(found.name) was removed; ask a super user")
        }
        try Self.requireStaff(found)
        guard !found.disabled else { throw CommandFailure(.unauthenticated, "the account \(found.name) is disabled") }
        var account = found
        if rolesAreMapped, person.role != found.role {
            let isLast = try isLastSuperUser(found)
            guard let role = person.role else {
                if isLast { return .lastSuperUser(found.name) }
                _ = try update(found.name, as: FinishOpenIDSignIn.name) { $0.disabled = true }
                return .disabled(found.name)
            }
            if !isLast { account = try update(found.name, as: UpdateAccount.name) { $0.role = role } }
        }
        return .signedIn(
            try signIn(
                account, confirming: person.confirms, hasSecondFactor: person.hasSecondFactor, secret: secret, address: address))
    }

    /// The gateway has accepted the name of a new account. If another browser of the person was faster, the account is there already.
    mutating func accepted(_ newcomer: OpenIDNewcomer, secret: Secret, address: String) throws -> Credential {
        var account = try account(of: newcomer.subject)
        if account == nil {
            let new = AccountDocument(
                name: newcomer.account, role: newcomer.role, password: nil, openID: newcomer.subject, created: now)
            _ = try add(new)
            account = new
        }
        guard let account, account.isActive else {
            throw CommandFailure(.unauthenticated, "the account has just been changed; begin again")
        }
        try Self.requireStaff(account)
        return try signIn(
            account, confirming: nil, hasSecondFactor: newcomer.hasSecondFactor, secret: secret, address: address)
    }

    /// The account of a person, also a removed one.
    func account(of person: OpenIDSubject) throws -> AccountDocument? { try transaction.account(of: person) }

    /// A claim neither disables nor promotes the account of a student, who signs in to the app.
    private static func requireStaff(_ account: AccountDocument) throws(CommandFailure) {
        guard !account.role.isStaff else { return }
        throw CommandFailure(
            .forbidden, "your account \(account.name) signs in to the app, and not here; ask a super user")
    }

    private func newcomer(_ person: OpenIDPerson) throws -> OpenIDNewcomer {
        guard let role = person.role else {
            throw CommandFailure(.forbidden, "there is no account for you here; ask a super user to add it")
        }
        guard person.confirms == nil else { throw Self.anotherPerson }
        let name = try person.name.get()
        try requireUnused(name)
        return OpenIDNewcomer(
            subject: person.subject, role: role, account: name, hasSecondFactor: person.hasSecondFactor, made: now)
    }

    private mutating func signIn(
        _ account: AccountDocument, confirming old: CredentialHash?, hasSecondFactor: Bool, secret: Secret, address: String
    ) throws -> Credential {
        var signIn = SignInDocument(hash: CredentialHash(of: secret), account: account.name, address: address, now: now)
        if hasSecondFactor {
            signIn.hasProvidersFactor = true
        } else if account.secondFactorState == .set {
            signIn.lacksCode = true
        }
        if let old {
            guard let confirmed = try transaction.get(old.description, from: PeopleStore.signIns),
                confirmed.account == account.id
            else { throw Self.anotherPerson }
            try transaction.delete(old.description, from: PeopleStore.signIns)
            credentialChanged(old, ended: true)
            signIn.confirmedUntil = now + PeopleLimits.confirmationTime
        }
        let now = now
        let account = try transaction.update(account.id, in: PeopleStore.accounts) { $0.openIDSignedIn = now }.document
        // Its tokens end later now.
        if account.password == nil { credentialsChanged(of: account.name) }
        try transaction.appendAudit([
            AuditEntry(
                at: now, by: AuditAuthor(actor: account.name.description, address: address), action: FinishOpenIDSignIn.name,
                object: .account(account.name))
        ])
        return try add(signIn, of: account)
    }

    private static var anotherPerson: CommandFailure {
        CommandFailure(
            .unauthenticated, "the provider has signed in another person, or the sign-in to confirm has ended; begin again")
    }
}

extension Transaction {
    /// The account of a person, also a removed one.
    func account(of person: OpenIDSubject) throws -> AccountDocument? {
        let query = Query(where: PeopleStore.oidc == person.subject, PeopleStore.oidcIssuer == person.issuer)
        return try page(of: PeopleStore.accounts, query, limit: 1).documents.first?.document
    }
}
