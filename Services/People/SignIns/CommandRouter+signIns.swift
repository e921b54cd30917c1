import Bus
import CoreMetrics
import Instruments
import Base
import Schemas
import Store

extension CommandRouter {
    /// The commands about sign-ins.
    mutating func serveSignIns(_ people: People) {
        on(BeginSignIn.self) { command, _ in
            try await SignInCount.password.count {
                try await people.passwords.check(
                    command.password, for: .signIn(account: command.account, address: command.address),
                    hasCode: command.code != nil
                ) { account in
                    // Only now, so that nobody learns of accounts without their passwords.
                    try account.requireStaff()
                    let password = try await people.current(account.password, command.password)
                    let secret = Secret.newSignIn()
                    let now = people.changes.now()
                    let signIn = SignInDocument(
                        hash: CredentialHash(of: secret), account: account.name, address: command.address, now: now)
                    let author = AuditAuthor(actor: account.name.description, address: command.address)
                    let credential = try await people.changes.make(by: author) { change in
                        let account = try change.transaction.accept(command.code, of: account, newPassword: password, at: now)
                        change.record(BeginSignIn.name, .account(account.name))
                        return try change.add(signIn, of: account)
                    }
                    return SignedIn(secret: secret, credential: credential)
                }
            }
        }
        on(ConfirmSignIn.self) { command, context in
            let account = try await people.store.snapshot { try $0.signIn(command.hash).account }
            return try await people.passwords.check(
                command.password, for: .confirmation(account.name, signIn: command.hash, address: command.address),
                hasCode: command.code != nil
            ) { account in
                try await people.changes.make(by: context) { change in
                    let now = change.now
                    let account = try change.transaction.accept(command.code, of: account, newPassword: nil, at: now)
                    _ = try change.transaction.signIn(command.hash)
                    let signIn = try change.transaction.update(command.hash.description, in: PeopleStore.signIns) {
                        $0.confirmedUntil = now + PeopleLimits.confirmationTime
                        $0.lacksCode = nil
                    }
                    change.credentialChanged(command.hash)
                    change.record(ConfirmSignIn.name, .account(account.name))
                    return try change.credential(of: signIn.document, account)
                }
            }
        }
        on(ShowSecondFactor.self) { command, context in
            let account = try await people.store.snapshot { try $0.signIn(command.hash).account }
            return try await people.passwords.check(nil, for: .code(account.name, address: command.address)) { account in
                try await people.changes.make(by: context) { change in
                    let account = try change.transaction.accept(command.code, of: account, newPassword: nil, at: change.now)
                    _ = try change.transaction.signIn(command.hash)
                    let signIn = try change.transaction.update(command.hash.description, in: PeopleStore.signIns) {
                        $0.lacksCode = nil
                    }
                    change.credentialChanged(command.hash)
                    change.record(ShowSecondFactor.name, .account(account.name))
                    return try change.credential(of: signIn.document, account)
                }
            }
        }
        on(EndSignIn.self) { command, context in
            try await people.changes.make(by: context) { change in
                guard let signIn = try change.transaction.get(command.hash.description, from: PeopleStore.signIns) else { return }
                try change.transaction.delete(command.hash.description, from: PeopleStore.signIns)
                change.credentialChanged(command.hash, ended: true)
                if let account = try change.transaction.get(signIn.account, from: PeopleStore.accounts) {
                    change.record(EndSignIn.name, .account(account.name))
                }
            }
            return Done()
        }
    }
}

extension People {
    /// A hash with the current parameters, if the stored one has others.
    fileprivate func current(_ stored: PasswordHash?, _ password: Secret) async throws -> PasswordHash? {
        let hashing = passwords.hashing
        return stored?.parameters == hashing.parameters ? nil : try await hashing.hash(password)
    }
}

extension AccountDocument {
    /// - Throws: ``CommandFailure`` with `forbidden` if the account does not use the portal.
    func requireStaff() throws(CommandFailure) {
        guard role.isStaff else {
            throw CommandFailure(.forbidden, "\(name) is a student's account, which signs in to the student's app and not here")
        }
    }
}

extension Transaction {
    /// Accepts the code of an account whose password was right.
    ///
    /// - Parameters:
    ///   - checked: The account as it was when its password was checked.
    ///   - password: A new hash of the same password; `nil` to keep the stored one.
    /// - Returns: The account as it is now.
    /// - Throws: ``CommandFailure`` with `unauthenticated` if the code is missing or wrong, or the account has changed since.
    fileprivate func accept(
        _ code: Secret?, of checked: AccountDocument, newPassword password: PasswordHash?, at now: UnixMilliseconds
    ) throws -> AccountDocument {
        try update(checked.id, in: PeopleStore.accounts) { account in
            guard account.isActive, account.role.isStaff == checked.role.isStaff, account.password == checked.password else {
                throw CommandFailure(.unauthenticated, "the account has just been changed; try again")
            }
            if account.secondFactor?.isConfirmed == true { try account.secondFactor?.accept(code, at: now) }
            if let password { account.password = password }
        }.document
    }

    /// A sign-in and its account.
    ///
    /// - Throws: ``CommandFailure`` with `not_found` if it has ended.
    fileprivate func signIn(_ hash: CredentialHash) throws -> (signIn: SignInDocument, account: AccountDocument) {
        guard let signIn = try get(hash.description, from: PeopleStore.signIns)?.document,
            let account = try get(signIn.account, from: PeopleStore.accounts)?.document, account.isActiveStaff
        else { throw CommandFailure(.notFound, "no such sign-in") }
        return (signIn, account)
    }
}

extension PeopleChange {
    /// Adds a sign-in. It ends the oldest ones of an account that has too many.
    ///
    /// - Returns: Its credential.
    mutating func add(_ signIn: SignInDocument, of account: AccountDocument) throws -> Credential {
        guard let hash = CredentialHash(signIn.id) else { throw CommandFailure(.internal, "the sign-in has no hash") }
        try endOldestSignIns(of: account)
        try transaction.insert(signIn, into: PeopleStore.signIns)
        credentialChanged(hash)
        let now = now
        if account.isNews(signInAt: now) { try transaction.update(account.id, in: PeopleStore.accounts) { $0.signedIn = now } }
        return try credential(of: signIn, account)
    }

    /// Ends the oldest sign-ins of the account, so that one more does not exceed the limit.
    private mutating func endOldestSignIns(of account: AccountDocument) throws {
        // There may be more than the maximum, by sign-ins at the same moment. The next ones end the others.
        let query = Query(where: PeopleStore.signInAccount == account.id)
        let signIns = try transaction.page(of: PeopleStore.signIns, query, limit: 2 * PeopleLimits.maxSignIns).documents.map(
            \.document)
        for signIn in signIns.sorted(by: { $0.created < $1.created }).dropLast(PeopleLimits.maxSignIns - 1) {
            guard let hash = CredentialHash(signIn.id) else { continue }
            try transaction.delete(signIn.id, from: PeopleStore.signIns)
            credentialChanged(hash, ended: true)
        }
    }

    /// The credential of a sign-in after this change.
    func credential(of signIn: SignInDocument, _ account: AccountDocument) throws -> Credential {
        transaction.credential(of: signIn, account, sequence: try sequence)
    }
}

/// Counts the attempts to sign in, by their outcome.
enum SignInCount: String {
    case password
    /// At the university's provider.
    case openID = "openid"
    /// With the link of an invitation.
    case invitation
    /// On a device, with the token or code of a provider.
    case university, google, firebase, facebook
    /// On a device, with a password.
    case devicePassword = "device_password"
    /// The exchange of a device's proof for a token.
    case deviceToken = "device_token"

    /// A sign-in on a device.
    init(_ provider: IdentityProvider) {
        self =
            switch provider {
            case .university: .university
            case .google: .google
            case .firebase: .firebase
            case .facebook: .facebook
            case .password: .devicePassword
            }
    }

    /// - Parameter attempt: Throws if the sign-in fails.
    func count<Value>(
        isolation: isolated (any Actor)? = #isolation, _ attempt: () async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await attempt()
            add(.ok)
            return value
        } catch {
            switch error {
            case let failure as CommandFailure: add(failure.status)
            case is SchemaViolation: add(.invalid)
            default: add(.internal)
            }
            throw error
        }
    }

    private func add(_ outcome: ReplyStatus) {
        Instrument.signIns.counter(["way": rawValue, "outcome": outcome.rawValue]).increment()
    }
}
