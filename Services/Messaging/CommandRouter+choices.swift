import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about the limits, and about what persons choose.
    mutating func serveChoices(_ messaging: Messaging) {
        let changes = messaging.changes
        on(ReadMessaging.self) { _, context in
            messaging.calls.count("others")
            let account = try context.requirePerson()
            let person = try await changes.store.get(account.key, from: MessagingStore.persons)?.document
            return ReadMessaging.Reply(
                rules: changes.rules(), choices: MessagingChoices(readMarks: person?.hidesReading != true))
        }
        on(ChooseMessaging.self) { command, context in
            messaging.calls.count("others")
            let account = try context.requirePerson()
            return try await changes.make(by: context) { change in
                try change.transaction.requireNotErased(account)
                try change.changePerson(account) { $0.hidesReading = command.choices.readMarks ? nil : true }
                return command.choices
            }
        }
    }
}
