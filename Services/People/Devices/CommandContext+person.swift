import Bus
import Schemas
import Store

extension CommandContext {
    /// The person who makes a request about themself.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` if the header's `actor` is missing, or no account's name.
    func requirePerson() throws(CommandFailure) -> AccountName {
        guard let name = AccountName(try requireActor()) else {
            throw CommandFailure(.unauthenticated, "the header's \"actor\" is no account's name")
        }
        return name
    }
}

extension Transaction {
    /// The account of a person who makes a request about themself.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` if it has just been disabled or removed.
    func caller(_ name: AccountName) throws -> AccountDocument {
        guard let account = try get(name.key, from: PeopleStore.accounts)?.document, account.isActive else {
            throw CommandFailure(.unauthenticated, "the account \(name) is disabled or was removed")
        }
        return account
    }
}
