import Schemas
import Store

extension ListAccounts {
    /// Reads the page.
    func answer(from transaction: Transaction) throws -> Reply {
        let beginning = text?.lowercased()
        var cursor = try Cursor(after: after)
        var found: [AccountDocument] = []
        if let beginning, cursor == nil {
            // The query finds what follows the text. The account of this very name comes first.
            let exact = try transaction.get(beginning, from: PeopleStore.accounts)?.document
            if let exact, exact.removed == nil, role.map({ $0 == exact.role }) ?? true { found.append(exact) }
            cursor = Cursor(afterID: beginning)
        }
        for query in queries {
            found += try transaction.page(of: PeopleStore.accounts, query, after: cursor, limit: limit + 1).documents.map(
                \.document)
        }
        if let beginning { found.removeAll { !$0.id.hasPrefix(beginning) } }
        found.sort { $0.id < $1.id }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { Cursor(afterID: $0.id) } : nil
        return Reply(accounts: page.map(\.account), next: next?.description)
    }

    /// Whose pages have the accounts, all in the order of their names.
    private var queries: [Query<AccountDocument>] {
        let roles = role.map { [$0] } ?? (text == nil ? Role.staff : nil)
        guard let roles else { return [Query(where: PeopleStore.removed == nil)] }
        return roles.map { Query(where: PeopleStore.role == $0, PeopleStore.removed == nil) }
    }
}
