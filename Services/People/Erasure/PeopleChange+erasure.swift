import Bus
import Schemas
import ServiceKit
import Store

extension PeopleChange {
    /// Erases a person in this service, except for the account's name, which the other services are asked to erase by. The account can do
    /// nothing any more, and nobody finds it.
    ///
    /// - Parameter digest: Of the account's name.
    mutating func erase(_ account: AccountDocument, digest: String) throws -> ErasureDocument {
        let removed = try transaction.forgetDevices(of: account) + transaction.forgetSocial(of: account)
        endTokens(of: .account(account.name))
        try forgetStaffCredentials(of: account)
        let now = now
        try transaction.update(account.id, in: PeopleStore.accounts) { account in
            account.disabled = true
            account.removed = now
            (account.password, account.secondFactor, account.invitation) = (nil, nil, nil)
            (account.displayName, account.openID) = (nil, nil)
            (account.signedIn, account.openIDSignedIn) = (nil, nil)
        }
        try transaction.addErasedName(digest, at: now)
        let erasure = ErasureDocument(
            of: account.name, digest: digest,
            removed: ErasureReport.Service(
                service: ServiceEntry.people.name, removed: [ErasedData(what: "accounts", count: 1)] + removed,
                stays: Self.stays),
            now: now)
        try transaction.insert(erasure, into: PeopleStore.erasures)
        // Without the account, which would be kept in the audit log.
        record(ErasureDocument.action, .account(account.name))
        return erasure
    }

    /// An account that can be erased.
    ///
    /// - Throws: ``CommandFailure``: `not_found` if there is none, `conflict` if it is one of staff.
    func erasable(_ name: AccountName) throws -> AccountDocument {
        let account = try transaction.account(name)
        guard !account.role.isStaff else {
            throw CommandFailure(
                .conflict, "\(account.name) is an account of staff, whose messages keep its name: it can be removed, not erased")
        }
        return account
    }

    private static let stays = [
        "the entries of the audit log about the account, with its name",
        "for 13 hours that the devices of the account were signed out, with its name",
        "a keyed digest of the account's name, so that nobody gets the name again",
    ]

    /// The account of a person has none, unless a restored backup is older than its role.
    private mutating func forgetStaffCredentials(of account: AccountDocument) throws {
        guard account.role.isStaff else { return }
        try transaction.deleteAll(of: PeopleStore.signIns, where: PeopleStore.signInAccount == account.id)
        try transaction.deleteAll(of: PeopleStore.tokens, where: PeopleStore.tokenAccount == account.id)
        credentialsChanged(of: account.name, ended: true)
    }
}

extension Transaction {
    /// Forgets the name of a person whom all services have erased, and what was added while they did.
    func forgetName(of erasure: ErasureDocument.ID) throws {
        guard let name = try get(erasure, from: PeopleStore.erasures)?.account else { return }
        if let account = try get(name.key, from: PeopleStore.accounts)?.document {
            _ = try forgetDevices(of: account)
            _ = try forgetSocial(of: account)
            try delete(account.id, from: PeopleStore.accounts)
        }
        try update(erasure, in: PeopleStore.erasures) { $0.account = nil }
    }

    func addErasedName(_ digest: String, at time: UnixMilliseconds) throws {
        guard try get(digest, from: PeopleStore.erasedNames) == nil else { return }
        try insert(ErasedName(id: digest, at: time), into: PeopleStore.erasedNames)
    }

    fileprivate func deleteAll<Document>(of collection: Collection<Document>, where condition: Condition<Document>) throws {
        while case let found = try page(of: collection, Query(where: condition), limit: 100).documents, !found.isEmpty {
            for document in found { try delete(document.id, from: collection) }
        }
    }
}
