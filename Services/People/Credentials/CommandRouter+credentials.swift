import Bus
import Schemas
import Store

extension CommandRouter {
    /// The number of uses that are stored in one transaction.
    private static let usesPerTransaction = 100

    /// The gateways' commands about credentials and their changes.
    mutating func serveCredentials(_ people: People) {
        on(FindCredential.self) { command, _ in
            try await people.store.snapshot { try $0.credential(command.hash) }
        }
        on(ListCredentials.self) { command, _ in
            try await people.store.snapshot { try command.answer(from: $0) }
        }
        on(ReportUses.self) { command, _ in
            let now = people.changes.now()
            for start in stride(from: 0, to: command.uses.count, by: Self.usesPerTransaction) {
                let uses = command.uses[start..<min(start + Self.usesPerTransaction, command.uses.count)]
                try await people.store.transaction { transaction in
                    for use in uses { try transaction.store(use, now: now) }
                }
            }
            return Done()
        }
        on(ReadPeopleChanges.self) { command, _ in
            try await people.store.snapshot { try command.answer(from: $0) }
        }
    }
}

extension Transaction {
    fileprivate func store(_ use: ReportUses.Use, now: UnixMilliseconds) throws {
        if try get(use.hash.description, from: PeopleStore.signIns) != nil {
            try update(use.hash.description, in: PeopleStore.signIns) { $0.used(at: use.at, now: now) }
        } else if let token = try token(use.hash), token.lastUsed ?? 0 < use.at {
            try update(token.id, in: PeopleStore.tokens) {
                $0.lastUsed = min(use.at, now)
                $0.lastAddress = use.address
            }
        }
    }
}

extension ListCredentials {
    /// First come the sign-ins, then the tokens, each in the order of their ids.
    private enum Position {
        case signIns(after: Cursor?)
        case tokens(after: Cursor?)

        private static let tokenPrefix = "token."

        init(_ text: String?) throws(CommandFailure) {
            if let text, text.hasPrefix(Self.tokenPrefix) {
                let cursor = text.dropFirst(Self.tokenPrefix.count)
                self = .tokens(after: cursor.isEmpty ? nil : try Cursor(after: String(cursor)))
            } else {
                self = .signIns(after: try Cursor(after: text))
            }
        }

        /// As the `next` of a page; `nil` behind the last page.
        var text: String? {
            switch self {
            case .signIns(let cursor): cursor?.description ?? Self.tokenPrefix
            case .tokens(let cursor): cursor.map { Self.tokenPrefix + $0.description }
            }
        }
    }

    func answer(from transaction: Transaction) throws -> Reply {
        let sequence = try transaction.peopleSequence()
        var credentials: [HashedCredential] = []
        func add(_ hash: String, _ account: String, _ credential: (AccountDocument) -> Credential) throws {
            guard let hash = CredentialHash(hash), let found = try transaction.activeAccount(account).map(credential),
                found.isValid(at: .now)
            else { return }
            credentials.append(HashedCredential(hash: hash, credential: found))
        }
        let next: Position
        switch try Position(after) {
        case .signIns(let cursor):
            let page = try transaction.page(of: PeopleStore.signIns, after: cursor, limit: limit)
            for signIn in page.documents.map(\.document) {
                try add(signIn.id, signIn.account) { transaction.credential(of: signIn, $0, sequence: sequence) }
            }
            next = .signIns(after: page.next)
        case .tokens(let cursor):
            let page = try transaction.page(of: PeopleStore.tokens, after: cursor, limit: limit)
            for token in page.documents.map(\.document) {
                try add(token.hash, token.account) { transaction.credential(of: token, $0, sequence: sequence) }
            }
            next = .tokens(after: page.next)
        }
        return Reply(credentials: credentials, next: next.text)
    }
}
