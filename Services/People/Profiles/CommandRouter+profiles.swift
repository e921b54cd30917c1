import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about what a person says about themself, and about the pushes that they get.
    mutating func serveProfiles(_ people: People) {
        on(GetProfile.self) { _, context in
            try await people.store.snapshot { try $0.profile(of: $0.caller(context.requirePerson())) }
        }
        on(SetProfile.self) { command, context in
            let (account, profile) = try await people.changes.make(by: context) { change in
                let account = try change.transaction.caller(context.requirePerson())
                if let email = command.profile.email, try email != change.transaction.verifiedEmail(of: account) {
                    throw CommandFailure(
                        .invalid, "email: expected that of your provider, or none: it cannot be changed here", field: "email")
                }
                guard command.profile.born?.isFuture(at: change.now) != true else {
                    throw CommandFailure(.invalid, "born: expected a day from 1900-01-01 to today", field: "born")
                }
                let profile = ProfileDocument(command.profile.withoutBlanks, of: account.id)
                try change.transaction.replace(profile, in: PeopleStore.profiles)
                return (account.name, try change.transaction.profile(of: account))
            }
            people.personEvents.announce(account, .profile)
            return profile
        }
        servePreferences(people)
    }
}
