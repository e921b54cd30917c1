import Schemas
import Store

/// The accounts of students.
extension PeopleChange {
    /// Adds the account of a student who registers. The audit log has no registrations.
    ///
    /// - Throws: ``CommandFailure`` with `conflict`: with the field `account` if the name was ever used, without one if the person has an
    ///   account, or had one that was removed.
    func addStudent(_ account: AccountDocument) throws {
        try requireUnused(account.name)
        if let openID = account.openID, try self.account(of: openID) != nil {
            throw CommandFailure(.conflict, "you have an account already, or it was removed; ask a super user")
        }
        try transaction.insert(account, into: PeopleStore.accounts)
    }
}

extension Transaction {
    /// A student's account that is enabled.
    ///
    /// - Throws: ``CommandFailure`` with `not_found`, whatever the reason is.
    func student(_ name: AccountName) throws -> AccountDocument {
        guard let account = try get(name.key, from: PeopleStore.accounts)?.document, account.isActiveStudent else {
            throw CommandFailure(.notFound, "no account \(name)")
        }
        return account
    }
}
