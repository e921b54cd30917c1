import Bus
import Schemas
import Store

extension CommandRouter {
    /// The search for sessions around a point. It takes them from memory: a person's classes leave few of them, so that no index
    /// by place would find them faster.
    mutating func serveNear(_ study: Study) {
        let changes = study.changes
        on(FindNearSessions.self) { command, context in
            let account = try context.requirePerson()
            let classes = try await changes.read { transaction, _, _ in
                try transaction.enrolments(of: account.key).map(\.classID)
            }
            let sessions = try await study.classSessions.open(in: classes)
            let (now, rules) = (changes.now(), changes.rules())
            let found = sessions.near(command.position.coordinate, radius: command.radius, at: now, rules)
            return FindNearSessions.Reply(
                sessions: found.map { near in
                    FindNearSessions.Found(
                        near.session.view(for: account, rules), distance: Int(near.distance.rounded()))
                }, now: now)
        }
    }
}

extension [SessionDocument] {
    /// The open ones around a point, the nearest first, at most ``StudyLimits/maxNear``.
    ///
    /// - Parameter radius: In metres.
    /// - Returns: Each with its distance in metres.
    func near(
        _ point: Coordinate, radius: Int, at now: UnixMilliseconds, _ rules: StudyRules
    ) -> [(session: SessionDocument, distance: Double)] {
        var found: [(session: SessionDocument, distance: Double)] = []
        for session in self where session.isOpen(at: now, rules) {
            guard let distance = session.place?.distance(to: point), distance <= Double(radius) else { continue }
            found.append((session: session, distance: distance))
        }
        found.sort { ($0.distance, $0.session.id) < ($1.distance, $1.session.id) }
        return found.prefix(StudyLimits.maxNear).map { $0 }
    }
}
