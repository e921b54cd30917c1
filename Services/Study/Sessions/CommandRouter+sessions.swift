import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands that read sessions. They read the store, so that each answer has what was committed before.
    mutating func serveSessions(_ study: Study) {
        let changes = study.changes
        on(ListSessions.self) { command, context in
            let account = try context.requirePerson()
            return try await changes.read { transaction, now, rules in
                _ = try transaction.require(.readSessions, of: account, in: command.classID)
                let open = try transaction.openSessions(of: command.classID).filter { $0.isOpen(at: now, rules) }
                    .sorted { ($1.starts, $1.id) < ($0.starts, $0.id) }
                return ListSessions.Reply(sessions: open.map { $0.view(for: account, rules) }, now: now)
            }
        }
        on(GetSession.self) { command, context in
            let account = try context.requirePerson()
            return try await changes.read { transaction, now, rules in
                let member = try transaction.require(.readSessions, of: account, in: command.classID).member
                let session = try transaction.session(command.id, of: command.classID).settled(at: now, rules)
                if session.ended != nil, try !transaction.sees(session, member) { throw CommandFailure.noSession(command.id) }
                let seesPast = ClassAction.readHistory.isAllowed(to: member.role)
                return SessionAnswer(session.view(for: account, seesPast: seesPast, rules), now: now)
            }
        }
        on(ReadOwnSessions.self) { _, context in
            let account = try context.requirePerson()
            return try await changes.read { transaction, now, rules in
                try transaction.ownSessions(of: account, at: now, rules)
            }
        }
    }
}

extension StudyChanges {
    /// Reads from one snapshot of the store.
    ///
    /// - Parameter body: Gets the time and the limits of the answer.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction, UnixMilliseconds, StudyRules) throws -> Value
    ) async throws -> Value {
        let (moment, limits) = (now(), rules())
        return try await store.snapshot { try body($0, moment, limits) }
    }
}

extension Transaction {
    /// What a person has to do with open sessions.
    fileprivate func ownSessions(
        of account: AccountName, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws -> ReadOwnSessions.Reply {
        let person = try get(account.key, from: StudyStore.persons)?.document
        let invites = try invites(of: account.key)
        let classes = Set(try enrolments(of: account.key).map(\.classID))
        let hosting = person?.hosted ?? []
        let ids: Set<ObjectID> = Set([person?.current].compactMap(\.self) + hosting + invites.map(\.session))
        let open = try get(all: Array(ids), from: StudyStore.sessions).map(\.document).filter { session in
            session.isOpen(at: now, rules) && classes.contains(session.classID)
        }
        let byID = Dictionary(open.map { ($0.id, $0) }) { first, _ in first }
        // What the person's document claims counts only if the session says the same.
        let current = open.first { $0.id == person?.current && $0.attends(account.key) }
        let hosted = hosting.compactMap { byID[$0] }.filter { $0.host == account.key && !$0.attends(account.key) }
        let invitations = invites.sorted { ($1.at, $1.id) < ($0.at, $0.id) }.compactMap { invite -> SessionInvite? in
            guard let session = byID[invite.session], !session.attends(account.key) else { return nil }
            return SessionInvite(session: session.view(for: account, rules), by: invite.byName, at: invite.at)
        }
        return ReadOwnSessions.Reply(
            current: current?.view(for: account, rules), hosted: hosted.map { $0.view(for: account, rules) },
            invites: invitations, now: now)
    }
}
