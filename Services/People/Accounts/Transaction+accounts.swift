import Schemas
import Storage

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
