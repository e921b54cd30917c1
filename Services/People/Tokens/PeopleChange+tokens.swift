import Schemas
import Storage

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
