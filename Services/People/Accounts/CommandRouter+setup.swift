import AuditTrail
import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands for the first start, and for the operator's token.
    mutating func serveSetup(_ people: People) {
        on(SetUpPeople.self) { command, context in
            // Before the hash, which takes long.
            try await people.store.snapshot { try $0.requireNoAccounts() }
            try await people.requireNoLoss()
            let password = try await people.passwords.hashing.hash(command.password)
            try await people.changes.make(by: context) { change in
                try change.transaction.requireNoAccounts()
                _ = try change.add(
                    AccountDocument(
                        name: command.account, role: .superUser, password: password, openID: nil, created: change.now))
                try change.addOperatorToken(command.tokenHash, of: command.account)
            }
            return Done()
        }
        on(ReplaceOperatorToken.self) { command, context in
            try await people.changes.make(by: context) { change in
                let account = try change.transaction.account(command.account)
                guard account.isActive, account.role == .superUser else {
                    throw CommandFailure(
                        .invalid, "account: expected a super user who is not disabled", field: "account")
                }
                try change.removeOperatorToken()
                try change.addOperatorToken(command.tokenHash, of: command.account)
            }
            return Done()
        }
    }
}

extension People {
    /// Refuses a first super user if there were accounts: the database is lost, or another one is used.
    fileprivate func requireNoLoss() async throws {
        guard let newest = heads.newest, try await store.snapshot({ try $0.auditHead() }) == nil else { return }
        throw CommandFailure(
            .unavailable,
            "the database has no accounts, and \(heads.path) shows that its audit log had \(newest.number) entries. msi restore brings a "
                + "backup back; to begin without it, remove that file and token")
    }
}

extension Transaction {
    fileprivate func requireNoAccounts() throws {
        if try hasAccounts() { throw CommandFailure(.conflict, "there are accounts already") }
    }
}

extension PeopleChange {
    fileprivate mutating func addOperatorToken(_ hash: CredentialHash, of name: AccountName) throws {
        let account = try transaction.account(name)
        try add(
            TokenDocument(
                hash: hash, name: "operator", account: account.name, rights: AccountRight.allCases, isOperator: true, now: now),
            of: account)
    }

    fileprivate mutating func removeOperatorToken() throws {
        let query = Query(where: PeopleStore.operatorToken == true)
        guard let token = try transaction.page(of: PeopleStore.tokens, query, limit: 1).documents.first else { return }
        try remove(token.document)
    }
}
