import Base
import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about access codes.
    mutating func serveAccessCodes(_ people: People) {
        on(AddAccessCode.self) { command, context in
            let code = Secret.newAccessCode()
            let added = try await people.changes.make(by: context) { change in
                try change.require(.administrator, of: context)
                guard command.expires > change.now else {
                    throw CommandFailure(.invalid, "expires: expected a time in the future", field: "expires")
                }
                try change.transaction.makeRoomForAccessCode()
                let new = AccessCodeDocument(command, code, now: change.now)
                try change.transaction.insert(new, into: PeopleStore.accessCodes)
                try change.appendAudit(AddAccessCode.name, new, by: context)
                return new.accessCode
            }
            return AddAccessCode.Reply(accessCode: added, code: code)
        }
        on(ListAccessCodes.self) { _, _ in
            let stored = try await people.store.page(
                of: PeopleStore.accessCodes, Query(order: .descending()), limit: PeopleStore.maxAccessCodes)
            return ListAccessCodes.Reply(
                accessCodes: stored.documents.map(\.document).filter { !$0.isUsedUp }.map(\.accessCode))
        }
        on(RemoveAccessCode.self) { command, context in
            try await people.changes.make(by: context) { change in
                try change.require(.administrator, of: context)
                guard let code = try change.transaction.get(command.id, from: PeopleStore.accessCodes)?.document else {
                    throw CommandFailure(.notFound, "no access code \(command.id)")
                }
                try change.transaction.delete(code.id, from: PeopleStore.accessCodes)
                try change.appendAudit(RemoveAccessCode.name, code, by: context)
            }
            return Done()
        }
        on(UseAccessCode.self) { command, context in
            let name = try context.requirePerson()
            return try await people.checkAccessCode(of: name, address: command.address) {
                let (account, person) = try await people.changes.make(by: context) { change in
                    let account = try change.use(command.code, by: name)
                    return (account, try change.transaction.person(of: account))
                }
                people.personChanged(account)
                return person
            }
        }
    }
}

extension People {
    /// Uses a code. Wrong ones are limited as those of second factors are.
    fileprivate func checkAccessCode(
        of name: AccountName, address: String, _ use: () async throws -> Person
    ) async throws -> Person {
        do {
            return try await passwords.check(nil, for: .code(name, address: address)) { _ in
                do {
                    return try await use()
                } catch let failure as CommandFailure where failure.status == .forbidden {
                    // The failure that counts.
                    throw CommandFailure(.unauthenticated, failure.message, field: failure.field)
                }
            }
        } catch let failure as CommandFailure where failure.status == .unauthenticated && failure.field == "code" {
            throw CommandFailure(.forbidden, failure.message, field: "code")
        }
    }
}

extension Transaction {
    /// Removes what is used up if there are as many codes as may be.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if all can still be used.
    fileprivate func makeRoomForAccessCode() throws {
        let stored = try page(of: PeopleStore.accessCodes, limit: PeopleStore.maxAccessCodes).documents
        guard stored.count == PeopleStore.maxAccessCodes else { return }
        let usedUp = stored.filter(\.document.isUsedUp).map(\.id)
        guard !usedUp.isEmpty else {
            throw CommandFailure(
                .conflict, "there are \(PeopleStore.maxAccessCodes) access codes, which is the maximum; end one first")
        }
        try delete(usedUp, from: PeopleStore.accessCodes)
    }
}
