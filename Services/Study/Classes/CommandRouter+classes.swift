import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about classes.
    mutating func serveClasses(_ study: Study) {
        serveJoining(study)
        on(AddClass.self) { command, context in
            let person = try context.requirePerson()
            let added = try await study.changes.make(by: context) { change in try change.add(command, by: person) }
            return try await study.view(of: added)
        }
        on(ListClasses.self) { _, context in
            let person = try context.requirePerson()
            let own = try await study.changes.store.snapshot { try $0.memberships(of: person) }
            return ListClasses.Reply(classes: try await study.views(of: own))
        }
        on(GetClass.self) { command, context in
            let person = try context.requirePerson()
            let found = try await study.changes.store.snapshot { transaction in
                try transaction.require(.readClass, of: person, in: command.id)
            }
            return try await study.view(of: found)
        }
        on(UpdateClass.self) { command, context in
            let person = try context.requirePerson()
            let updated = try await study.changes.make(by: context) { change in
                try change.update(command.id, command.edit, by: person)
            }
            return try await study.view(of: updated)
        }
        on(ChooseClassPushes.self) { command, context in
            let person = try context.requirePerson()
            let chosen = try await study.changes.make(by: context) { change in
                try change.choosePushes(command.newSessions, of: person, in: command.id)
            }
            return try await study.view(of: chosen)
        }
        on(ListAllClasses.self) { command, _ in
            let page = try await study.changes.store.page(
                of: StudyStore.classes, after: Cursor(after: command.after), limit: command.limit)
            return ListAllClasses.Reply(
                classes: page.documents.map { $0.document.entry }, next: page.next?.description)
        }
        on(GiveClass.self) { command, context in
            try await study.changes.make(by: context) { change in try change.give(command.id, to: command.account).entry }
        }
    }

    /// The commands with which persons come into classes, and leave them.
    private mutating func serveJoining(_ study: Study) {
        let attempts = KeyAttempts()
        // A hall of students joins at the same moment, and each of them changes the class. With MongoDB they conflict unless they
        // do it one after another. SQLite commits them together.
        let joins: KeyedLock<String>? = study.changes.store.tellsChanges ? nil : KeyedLock()
        on(JoinClass.self) { command, context in
            let person = try context.requirePerson()
            let code = ClassCode.stored(command.key)
            let join: @Sendable () async throws -> ClassMembership = {
                try await study.changes.make(by: context) { change in try change.join(by: code, as: person) }
            }
            let joined: ClassMembership = try await attempts.check(of: person, from: command.address) {
                guard let joins else { return try await join() }
                return try await joins.take(code) {
                    try context.checkStillWanted()
                    return try await join()
                }
            }
            return try await study.view(of: joined)
        }
        on(LeaveClass.self) { command, context in
            let person = try context.requirePerson()
            try await study.changes.make(by: context) { change in try change.leave(command.id, as: person) }
            return Done()
        }
    }
}

extension Study {
    /// A class as one of its persons sees it.
    fileprivate func view(of membership: ClassMembership) async throws -> StudyClass {
        let sessions = try await classSessions.count(of: membership.group.id)
        return membership.group.view(for: membership.member, sessions: sessions)
    }

    fileprivate func views(of memberships: [ClassMembership]) async throws -> [StudyClass] {
        var views: [StudyClass] = []
        for membership in memberships { views.append(try await view(of: membership)) }
        return views
    }
}
