import Bus
import Schemas

extension CommandRouter {
    /// The command with which persons invite others to a session.
    mutating func serveInvites(_ study: Study) {
        let counts = MinuteCounts(now: study.changes.now)
        on(InviteToSession.self) { command, context in
            let person = try context.requirePerson()
            try counts.count(person, max: StudyLimits.changesPerMinute, "invited")
            let invited = try await study.changes.make(by: context) { change in
                try change.invite(command, by: person)
            }
            return InviteToSession.Reply(invited: invited)
        }
    }
}
