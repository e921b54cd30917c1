import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about the persons of classes.
    mutating func serveRoster(_ study: Study) {
        let store = study.changes.store
        on(ListClassMembers.self) { command, context in
            let person = try context.requirePerson()
            let cursor = try Cursor(after: command.after)
            let page = try await store.snapshot { transaction in
                _ = try transaction.require(.readRoster, of: person, in: command.classID)
                return try transaction.members(of: command.classID, after: cursor, limit: command.limit)
            }
            return ListClassMembers.Reply(
                members: page.documents.map { $0.document.view }, next: page.next?.description)
        }
        on(ListClassAccounts.self) { command, context in
            let person = try context.requirePerson()
            let cursor = try Cursor(after: command.after)
            let page = try await store.snapshot { transaction in
                _ = try transaction.require(.readClassmates, of: person, in: command.id)
                return try transaction.classmates(of: command.id, after: cursor, limit: command.limit)
            }
            return ListClassAccounts.Reply(
                accounts: page.documents.map(\.document.name).filter { $0 != person }, next: page.next?.description)
        }
        on(CheckClassmate.self) { command, context in
            let person = try context.requirePerson()
            let isShared = try await store.snapshot { transaction in
                let own = Set(try transaction.enrolments(of: person.key).map(\.classID))
                return try transaction.enrolments(of: command.account.key).contains { own.contains($0.classID) }
            }
            return CheckClassmate.Reply(shared: isShared)
        }
        on(ChangeClassRole.self) { command, context in
            let person = try context.requirePerson()
            return try await study.changes.make(by: context) { change in try change.changeRole(command, by: person).view }
        }
        on(RemoveClassMember.self) { command, context in
            let person = try context.requirePerson()
            try await study.changes.make(by: context) { change in try change.remove(command, by: person) }
            return Done()
        }
    }
}
