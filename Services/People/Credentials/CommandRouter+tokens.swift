import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about bearer tokens.
    mutating func serveTokens(_ people: People) {
        on(AddToken.self) { command, context in
            let name = try command.account ?? context.requireAccount()
            let secret = Secret.newToken()
            return try await people.changes.make(by: context) { change in
                try change.require(.accountOrOperator(name), of: context)
                let account = try change.transaction.account(name)
                try command.check(for: account, now: change.now)
                try change.transaction.requireRoomForToken(of: account)
                let token = TokenDocument(
                    hash: CredentialHash(of: secret), name: command.title, account: account.name, rights: command.rights,
                    scope: command.scope, expires: command.expires, now: change.now)
                try change.add(token, of: account)
                return AddToken.Reply(token: token.token(of: account), secret: secret)
            }
        }
        on(ListTokens.self) { command, _ in
            let cursor = try Cursor(after: command.after)
            return try await people.store.snapshot { transaction in
                let query = command.account.map { Query(where: PeopleStore.tokenAccount == $0.key) } ?? Query()
                let page = try transaction.page(of: PeopleStore.tokens, query, after: cursor, limit: command.limit)
                let tokens = try page.documents.compactMap { token in
                    try transaction.get(token.account, from: PeopleStore.accounts).map { token.document.token(of: $0.document) }
                }
                return ListTokens.Reply(tokens: tokens, next: page.next?.description)
            }
        }
        on(RemoveToken.self) { command, context in
            try await people.changes.make(by: context) { change in
                guard let token = try change.transaction.get(command.id, from: PeopleStore.tokens),
                    command.account == nil || command.account?.key == token.account
                else { throw CommandFailure(.notFound, "no token \(command.id)") }
                if let account = try change.transaction.get(token.account, from: PeopleStore.accounts) {
                    try change.require(.account(account.name), of: context)
                }
                try change.remove(token.document)
            }
            return Done()
        }
    }
}

extension AddToken {
    /// - Throws: ``CommandFailure`` if the account cannot have such a token.
    fileprivate func check(for account: AccountDocument, now: UnixMilliseconds) throws {
        guard account.isActive else {
            throw CommandFailure(.conflict, "the account \(account.name) is disabled", field: "account")
        }
        guard account.role.isStaff else {
            throw CommandFailure(.conflict, "\(account.name) is a student's account, which has no tokens", field: "account")
        }
        if let right = rights.first(where: { !account.role.rights.contains($0) }) {
            throw CommandFailure(
                .invalid, "rights: \(account.name) has no right \"\(right.rawValue)\", so its token cannot have it",
                field: "rights")
        }
        if let expires, expires <= now {
            throw CommandFailure(.invalid, "expires: expected a time in the future", field: "expires")
        }
    }
}

extension Transaction {
    /// - Throws: ``CommandFailure`` with `conflict` if an account has the maximum number of tokens.
    fileprivate func requireRoomForToken(of account: AccountDocument) throws {
        let query = Query(where: PeopleStore.tokenAccount == account.id)
        let tokens = try page(of: PeopleStore.tokens, query, limit: PeopleLimits.maxTokens).documents
        guard tokens.count < PeopleLimits.maxTokens else {
            throw CommandFailure(
                .conflict, "\(account.name) has \(PeopleLimits.maxTokens) tokens, which is the maximum; revoke one first")
        }
    }
}

extension CommandContext {
    /// The caller's account name.
    fileprivate func requireAccount() throws(CommandFailure) -> AccountName {
        let actor = try requireActor()
        guard let name = AccountName(actor) else {
            throw CommandFailure(.unauthenticated, "the header's \"actor\" is no account's name")
        }
        return name
    }
}

/// The changes of tokens. Each is recorded for the audit log.
extension PeopleChange {
    mutating func add(_ token: TokenDocument, of account: AccountDocument) throws {
        try transaction.insert(token, into: PeopleStore.tokens)
        guard let hash = CredentialHash(token.hash) else { throw CommandFailure(.internal, "the token has no hash") }
        credentialChanged(hash)
        try record("token.add", .token(token.id), after: token.token(of: account))
    }

    /// Ends the operator's token if it acts for an account.
    mutating func removeOperatorToken(of account: AccountDocument) throws {
        let query = Query(where: PeopleStore.operatorToken == true)
        guard let token = try transaction.page(of: PeopleStore.tokens, query, limit: 1).documents.first,
            token.account == account.id
        else { return }
        try remove(token.document)
    }

    mutating func remove(_ token: TokenDocument) throws {
        guard let hash = CredentialHash(token.hash), let account = try transaction.get(token.account, from: PeopleStore.accounts)
        else { throw CommandFailure(.conflict, "the token \(token.id) is damaged") }
        try end(token, of: account.document)
        credentialChanged(hash, ended: true)
    }

    /// Removes a token. The caller announces that it has ended.
    ///
    /// - Parameter account: Its account, before the change.
    mutating func end(_ token: TokenDocument, of account: AccountDocument) throws {
        try transaction.delete(token.id, from: PeopleStore.tokens)
        try record("token.remove", .token(token.id), before: token.token(of: account))
    }
}
