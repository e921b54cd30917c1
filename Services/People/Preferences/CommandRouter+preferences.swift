import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about the kinds of pushes that a person gets.
    mutating func servePreferences(_ people: People) {
        on(GetPushPreferences.self) { _, context in
            try await people.store.snapshot { try $0.pushPreferences(of: $0.caller(context.requirePerson()).id) }
        }
        on(SetPushPreferences.self) { command, context in
            let account = try await people.changes.make(by: context) { change in
                let account = try change.transaction.caller(context.requirePerson())
                try change.transaction.replace(
                    PreferenceDocument(command.preferences, of: account.id), in: PeopleStore.preferences)
                return account.name
            }
            people.personEvents.announce(account, .preferences)
            return command.preferences
        }
    }
}

extension Transaction {
    /// Changes what is stored of a person under the account's name, or stores it for the first time.
    func replace<Document>(_ document: Document, in collection: Collection<Document>) throws {
        guard try get(document.id, from: collection) != nil else { return _ = try insert(document, into: collection) }
        try update(document.id, in: collection) { $0 = document }
    }
}
