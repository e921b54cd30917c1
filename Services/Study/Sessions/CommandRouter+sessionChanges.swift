import Bus
import CoreMetrics
import Instruments
import Schemas

extension CommandRouter {
    /// The commands that change sessions.
    mutating func serveSessionChanges(_ study: Study) {
        let changes = study.changes
        let joins = MinuteCounts(now: changes.now)
        let edits = MinuteCounts(now: changes.now)
        on(AddSession.self) { command, context in
            let account = try context.requirePerson()
            try joins.count(account, max: StudyLimits.joinsPerMinute, "joined or started sessions")
            let session = try await changes.make(by: context) { change in
                try change.start(command.draft, in: command.classID, by: account, requestKey: command.requestKey)
            }
            return changes.answer(session, for: account)
        }
        on(JoinSession.self) { command, context in
            let account = try context.requirePerson()
            try joins.count(account, max: StudyLimits.joinsPerMinute, "joined or started sessions")
            do {
                let session = try await changes.make(by: context) { change in
                    try change.join(command.id, of: command.classID, as: account, leave: command.leave == true)
                }
                JoinOutcomes.countSuccess()
                return changes.answer(session, for: account)
            } catch let failure as CommandFailure {
                JoinOutcomes.count(failure)
                throw failure
            }
        }
        on(UpdateSession.self) { command, context in
            let account = try context.requirePerson()
            try edits.count(account, max: StudyLimits.changesPerMinute, "changed sessions")
            let session = try await changes.make(by: context) { change in
                try change.update(command.id, of: command.classID, command.edit, by: account)
            }
            return changes.answer(session, for: account)
        }
        on(LeaveSession.self) { command, context in
            let account = try context.requirePerson()
            try await changes.make(by: context) { change in
                try change.leave(command.id, of: command.classID, as: account)
            }
            return Done()
        }
        on(EndSession.self) { command, context in
            let account = try context.requirePerson()
            try await changes.make(by: context) { change in
                try change.end(command.id, of: command.classID, by: account)
            }
            return Done()
        }
        on(ReportPosition.self) { command, context in
            let account = try context.requirePerson()
            return try await changes.make(by: context) { change in
                try change.report(command.position, at: command.id, of: command.classID, by: account)
            }
        }
    }
}

extension StudyChanges {
    /// The session as the person who has just started, joined or changed it sees it now. If it has ended since, they see nobody else
    /// in it, whatever their role.
    func answer(_ session: SessionDocument, for account: AccountName) -> SessionAnswer {
        let (moment, limits) = (now(), rules())
        return SessionAnswer(session.settled(at: moment, limits).view(for: account, limits), now: moment)
    }
}

/// Counts how attempts to join end.
private enum JoinOutcomes {
    /// The conflicts that are counted, by their fields.
    private static let fields: Set<String> = ["session", "attendants", "ended"]

    static func countSuccess() { count("ok") }

    static func count(_ failure: CommandFailure) {
        if failure.status == .conflict, let field = failure.field, fields.contains(field) { count(field) }
    }

    private static func count(_ outcome: String) { Instrument.studyJoins.counter(["outcome": outcome]).increment() }
}
