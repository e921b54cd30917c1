import Schemas
import Store

/// The changes of accounts. Each is recorded for the audit log, and ends what it takes away.
extension PeopleChange {
    /// Adds an account.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if the name was ever used, or another account has the identifier at the OpenID
    ///   Connect provider.
    mutating func add(_ account: AccountDocument) throws -> Account {
        try requireUnused(account.name)
        if let openID = account.openID { try takeOver(openID) }
        try transaction.insert(account, into: PeopleStore.accounts)
        try record("account.add", .account(account.name), after: account.audited)
        return account.account
    }

    /// Changes an account. Its credentials change with it. The operator's token ends if it acts for the account, and that is no super
    /// user any more.
    ///
    /// - Parameter endsCredentials: Whether its sign-ins, tokens and devices end. They end as well if it cannot sign in any more, or joins
    ///   or leaves the staff.
    /// - Throws: ``CommandFailure`` with `not_found`; `conflict` if no super user would be left.
    mutating func update(
        _ name: AccountName, as action: String, endsCredentials: Bool = false, _ body: (inout AccountDocument) throws -> Void
    ) throws -> AccountDocument {
        let before = try transaction.account(name)
        let now = now
        let after = try transaction.update(before.id, in: PeopleStore.accounts) { account in
            try body(&account)
            account.settle(from: before, at: now)
        }.document
        guard after != before else { return before }
        if !after.isActiveSuperUser(issuer: issuer), try isLastSuperUser(before) {
            throw CommandFailure(
                .conflict,
                "\(before.name) is the last super user who can sign in; make another account a super user first")
        }
        let ended = endsCredentials || !after.isActive || before.role.isStaff != after.role.isStaff
        if ended {
            try endCredentials(of: before)
            // One that could not be used has none.
            if before.isActive { try endDevices(of: before) }
        }
        if before.role == .superUser, after.role != .superUser { try removeOperatorToken(of: after) }
        // Gateways have copies of the staff's credentials alone.
        if before.role.isStaff || after.role.isStaff { credentialsChanged(of: after.name, ended: ended) }
        try record(
            action, .account(after.name), before: before.audited,
            after: after.removed == nil ? after.audited : nil)
        return after
    }

    /// Ends an account's sign-ins and tokens. Each token is recorded.
    private mutating func endCredentials(of account: AccountDocument) throws {
        while case let found = try transaction.page(
            of: PeopleStore.signIns, Query(where: PeopleStore.signInAccount == account.id), limit: 100
        ).documents, !found.isEmpty {
            for signIn in found { try transaction.delete(signIn.id, from: PeopleStore.signIns) }
        }
        while case let found = try transaction.page(
            of: PeopleStore.tokens, Query(where: PeopleStore.tokenAccount == account.id), limit: 100
        ).documents, !found.isEmpty {
            for token in found { try end(token.document, of: account) }
        }
    }

    /// - Throws: ``CommandFailure`` with `conflict` if the name was ever used, or cannot be.
    func requireUnused(_ name: AccountName) throws {
        let existing = try transaction.get(name.key, from: PeopleStore.accounts)?.document
        if let existing, existing.removed == nil {
            throw CommandFailure(.conflict, "the account \(existing.name) exists already", field: "account")
        }
        guard try existing == nil && !transaction.isErased(name) else {
            throw CommandFailure(
                .conflict, "the account \(existing?.name ?? name) was removed, and its name is never used again", field: "account"
            )
        }
        guard !name.isPathWord else {
            throw CommandFailure(.conflict, "account: \(name) cannot be used; choose another name", field: "account")
        }
    }

    /// Whether no other super user can sign in.
    func isLastSuperUser(_ account: AccountDocument) throws -> Bool {
        guard account.isActiveSuperUser(issuer: issuer) else { return false }
        return try !transaction.hasActiveSuperUser(besides: account, issuer: issuer)
    }

    /// Makes an account that of a person at the OpenID Connect provider, or of no person.
    mutating func link(_ name: AccountName, to openID: OpenIDSubject?) throws {
        let account = try transaction.account(name)
        guard account.openID != openID else { return }
        if let openID {
            try takeOver(openID)
        } else if try account.password == nil && !hasAnotherProvider(account) {
            throw CommandFailure(.conflict, "\(account.name) has no password, so it could not sign in any more", field: "oidc")
        }
        // The person who had the account must not stay signed in.
        _ = try update(name, as: "account.link", endsCredentials: account.openID != nil) { $0.openID = openID }
    }

    /// Whether it is a student's who can sign in at another provider than the university's.
    private func hasAnotherProvider(_ account: AccountDocument) throws -> Bool {
        guard !account.role.isStaff else { return false }
        return try transaction.identities(of: account).contains { $0.provider != .university }
    }

    /// Takes an identifier at the provider from a removed account, and records it.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if another account has it.
    private mutating func takeOver(_ openID: OpenIDSubject) throws {
        guard let existing = try account(of: openID) else { return }
        guard existing.removed != nil else {
            throw CommandFailure(.conflict, "the account \(existing.name) has this identifier at the provider", field: "oidc")
        }
        let after = try transaction.update(existing.id, in: PeopleStore.accounts) { $0.openID = nil }.document
        try record("account.link", .account(existing.name), before: existing.audited, after: after.audited)
    }

    /// A person at the provider that is set up.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if there is no provider.
    func openID(_ subject: String) throws -> OpenIDSubject {
        guard let issuer else {
            throw CommandFailure(.conflict, "no OpenID Connect provider is set up (MSI_OIDC_ISSUER)", field: "oidc")
        }
        return OpenIDSubject(issuer: issuer, subject: subject)
    }
}

extension AccountDocument {
    /// Adds what follows from a change: only the staff has invitations and must set up second factors, and a new student counts as used.
    fileprivate mutating func settle(from before: AccountDocument, at now: UnixMilliseconds) {
        if !isActiveStaff { invitation = nil }
        guard role != before.role else { return }
        (usedOn, unusedSince) = (role == .student ? now.day : nil, nil)
        if !role.isStaff { secondFactorRequired = false }
    }
}

extension Transaction {
    /// An account that is not removed.
    ///
    /// - Throws: ``CommandFailure`` with `not_found`.
    func account(_ name: AccountName) throws -> AccountDocument {
        guard let account = try get(name.key, from: PeopleStore.accounts)?.document, account.removed == nil else {
            throw CommandFailure(.notFound, "no account \(name)")
        }
        return account
    }

    /// Whether any account was ever added.
    func hasAccounts() throws -> Bool {
        try !page(of: PeopleStore.accounts, limit: 1).documents.isEmpty
    }

    /// Whether a super user can sign in who is not a certain account.
    func hasActiveSuperUser(besides account: AccountDocument, issuer: String?) throws -> Bool {
        var cursor: Cursor?
        repeat {
            let page = try page(
                of: PeopleStore.accounts, Query(where: PeopleStore.role == .superUser), after: cursor, limit: 100)
            if page.documents.contains(where: { $0.id != account.id && $0.document.isActiveSuperUser(issuer: issuer) }) {
                return true
            }
            cursor = page.next
        } while cursor != nil
        return false
    }
}
