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
        try record("account.add", .account(account.name), after: account.account)
        return account.account
    }

    /// Changes an account. Its credentials change with it. The operator's token ends if it acts for the account, and that is no super
    /// user any more.
    ///
    /// - Parameter endsCredentials: Whether its sign-ins and tokens end. They end as well if it cannot sign in any more.
    /// - Throws: ``CommandFailure`` with `not_found`; `conflict` if no super user would be left.
    mutating func update(
        _ name: AccountName, as action: String, endsCredentials: Bool = false, _ body: (inout AccountDocument) throws -> Void
    ) throws -> AccountDocument {
        let before = try transaction.account(name)
        let after = try transaction.update(before.id, in: PeopleStore.accounts) { account in
            try body(&account)
            if !account.isActive { account.invitation = nil }
        }.document
        guard after != before else { return before }
        if !after.isActiveSuperUser(issuer: issuer), try isLastSuperUser(before) {
            throw CommandFailure(
                .conflict,
                "\(before.name) is the last super user who can sign in; make another account a super user first")
        }
        let ended = endsCredentials || !after.isActive
        if ended { try endCredentials(of: before) }
        if before.role == .superUser, after.role != .superUser { try removeOperatorToken(of: after) }
        credentialsChanged(of: after.name, ended: ended)
        try record(
            action, .account(after.name), before: before.account,
            after: after.removed == nil ? after.account : nil)
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

    /// - Throws: ``CommandFailure`` with `conflict` if the name was ever used.
    func requireUnused(_ name: AccountName) throws {
        guard let existing = try transaction.get(name.key, from: PeopleStore.accounts) else { return }
        throw CommandFailure(
            .conflict,
            existing.removed == nil
                ? "the account \(existing.name) exists already"
                : "the account \(existing.name) was removed, and its name is never used again",
            field: "account")
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
        } else if account.password == nil {
            throw CommandFailure(.conflict, "\(account.name) has no password, so it could not sign in any more", field: "oidc")
        }
        // The person who had the account must not stay signed in.
        _ = try update(name, as: "account.link", endsCredentials: account.openID != nil) { $0.openID = openID }
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
        try record("account.link", .account(existing.name), before: existing.account, after: after.account)
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
