import CommandBus
import Schemas
import Storage

extension CommandRouter {
    /// The commands about sign-ins.
    mutating func serveSignIns(_ people: People) {
        on(BeginSignIn.self) { command, _ in
            try await SignInCount.password.count {
                try await people.passwords.check(
                    command.password, for: .signIn(account: command.account, address: command.address),
                    hasCode: command.code != nil
                ) { account in
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
    /// A hash with the current parameters, if the stored one has others or is that of the password as it was typed.
    fileprivate func current(_ stored: PasswordHash?, _ password: Secret) async throws -> PasswordHash? {
        let hashing = passwords.hashing
        let isPrepared = password.isPrepared ? true : try await hashing.matches(stored, password.prepared, for: .known)
        if isPrepared, stored?.parameters == hashing.parameters { return nil }
        return try await hashing.hash(password)
    }
}

extension Transaction {
    /// Accepts the code of an account whose password was right.
    ///
    /// - Parameters:
    ///   - checked: The account as it was when its password was checked.
    ///   - password: A new hash of the same password; `nil` to keep the stored one.
    /// - Returns: The account as it is now.
    /// - Throws: ``CommandFailure`` with `unauthenticated` if the code is missing or wrong, or the account was changed meanwhile.
    fileprivate func accept(
        _ code: Secret?, of checked: AccountDocument, newPassword password: PasswordHash?, at now: UnixMilliseconds
    ) throws -> AccountDocument {
        try update(checked.id, in: PeopleStore.accounts) { account in
            guard account.isActive, account.password == checked.password else {
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
            let account = try get(signIn.account, from: PeopleStore.accounts)?.document, account.isActive
        else { throw CommandFailure(.notFound, "no such sign-in") }
        return (signIn, account)
    }
}
