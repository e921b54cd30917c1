import Base
import Schemas
import Store

extension MessagingChange {
    /// Writes a person's document, and makes it if it is missing.
    ///
    /// - Returns: It after the change.
    @discardableResult
    func changePerson(
        _ account: AccountName, _ change: (inout MessagingPersonDocument) -> Void
    ) throws -> MessagingPersonDocument {
        guard try transaction.get(account.key, from: MessagingStore.persons) != nil else {
            var person = MessagingPersonDocument(account)
            change(&person)
            return try transaction.insert(person, into: MessagingStore.persons).document
        }
        return try transaction.update(account.key, in: MessagingStore.persons) { change(&$0) }.document
    }

    /// The position of something that is new for a person.
    func nextPosition(of account: AccountName, _ change: (inout MessagingPersonDocument) -> Void = { _ in }) throws -> Int64 {
        try changePerson(account) { person in
            person.position = max(person.position + 1, now.rawValue)
            change(&person)
        }.position
    }
}

extension Transaction {
    /// - Throws: ``CommandFailure`` with `unauthenticated` if the person was erased a short time ago: a gateway may still take
    ///   a token.
    func requireNotErased(_ account: AccountName) throws {
        guard try get(ErasedPersonDocument.identifier(of: account), from: MessagingStore.erased) == nil else {
            throw CommandFailure(.unauthenticated, "the account \(account) was erased")
        }
    }
}
