import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about the keys of classes.
    mutating func serveClassKeys(_ study: Study) {
        on(ListClassKeys.self) { command, context in
            let person = try context.requirePerson()
            let keys = try await study.changes.store.snapshot { transaction in
                _ = try transaction.require(.manageKeys, of: person, in: command.classID)
                return try transaction.classKeys(of: command.classID)
            }
            return ListClassKeys.Reply(keys: keys.map(\.view))
        }
        on(AddClassKey.self) { command, context in
            let person = try context.requirePerson()
            return try await study.changes.make(by: context) { change in try change.add(command, by: person).view }
        }
        on(ReplaceClassKey.self) { command, context in
            let person = try context.requirePerson()
            return try await study.changes.make(by: context) { change in try change.replace(command, by: person).view }
        }
        on(RemoveClassKey.self) { command, context in
            let person = try context.requirePerson()
            try await study.changes.make(by: context) { change in try change.remove(command, by: person) }
            return Done()
        }
    }
}
