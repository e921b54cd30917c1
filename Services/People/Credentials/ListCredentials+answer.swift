import Schemas
import Storage

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
