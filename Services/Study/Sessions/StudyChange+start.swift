import Schemas
import Store

/// How sessions begin.
extension StudyChange {
    /// Starts a session, whose host is the caller. Repeated with the same key, it finds the same session.
    ///
    /// - Throws: ``CommandFailure`` as ``AddSession`` says.
    mutating func start(
        _ draft: SessionDraft, in classID: ObjectID, by account: AccountName, requestKey: String?
    ) throws -> SessionDocument {
        let (group, member) = try transaction.require(.startSession, of: account, in: classID)
        let request = RequestHash.text(requestKey, of: account, for: "session")
        if let request, let earlier = try transaction.session(madeBy: request) {
            guard earlier.classID == classID, earlier.began(as: draft) else { throw CommandFailure.reusedKey(for: "session") }
            return earlier
        }
        guard group.closed == nil else {
            throw CommandFailure(.conflict, "the class is closed: nobody starts a session in it any more")
        }
        let attends = try check(draft, by: member)
        if attends {
            try leaveCurrent(of: account, for: nil, mayLeave: draft.leave == true)
        } else {
            try requireRoomToSponsor(account)
        }
        let session = session(of: draft, by: member, attends: attends, request: request)
        try transaction.insert(session, into: StudyStore.sessions)
        try requireRoom(in: classID)
        // With this, a start conflicts with the end of the class, and with another start.
        try transaction.update(classID, in: StudyStore.classes) { $0.touch() }
        if let attendant = session.attendants.first {
            try begin(attendant, at: session)
        } else {
            try changePerson(account) { $0.hosted.append(session.id) }
            changed(.person(account, .session, id: session.id))
        }
        changed(.inClass(classID, .sessions, session: session.id))
        changedSession(session.id, of: classID)
        try tellBegun(session)
        return session
    }

    /// Whether a person may start a session, and attends it.
    private func check(_ draft: SessionDraft, by member: EnrolmentDocument) throws(CommandFailure) -> Bool {
        let isSponsored = draft.sponsored == true
        guard !isSponsored || ClassAction.sponsorSession.isAllowed(to: member.role) else {
            throw CommandFailure(
                .forbidden, "only the teaching assistants and the professor of the class sponsor sessions", field: "sponsored")
        }
        guard draft.minutes <= rules.maxMinutes else { throw .tooLong(rules) }
        guard isSponsored else {
            try rules.requireNear(draft.position, to: draft.place.coordinate)
            return true
        }
        return draft.attends ?? rules.isNear(draft.position, to: draft.place.coordinate)
    }

    private func session(
        of draft: SessionDraft, by member: EnrolmentDocument, attends: Bool, request: String?
    ) -> SessionDocument {
        let host = SessionDocument.Attendant(
            account: member.account, name: member.name, role: member.role, number: member.number, joined: now)
        let isInside = attends && rules.isNear(draft.position, to: draft.place.coordinate)
        let description = draft.description.flatMap { $0.isInvisible ? nil : $0 }
        var session = SessionDocument(
            id: ObjectID(), classID: member.classID, topics: draft.topics.map(\.tidied), description: description,
            place: draft.place.coordinate, placeName: draft.place.name, placedBy: member.account, starts: now,
            ends: SessionDocument.plannedEnd(from: now, minutes: draft.minutes), sponsored: draft.sponsored == true,
            host: host.account, hostName: host.name, hostRole: host.role, hostNumber: host.number,
            attendants: attends ? [host] : [], area: isInside ? .inside : .never, warned: nil, told: nil, news: nil, posts: 0,
            open: true, ended: nil, reason: nil, due: nil, namesUntil: nil, restored: nil, request: request)
        session.due = session.nextDue(rules)
        return session
    }

    /// The sessions that somebody hosts without attending them are limited. Those that are over do not count, nor those that
    /// others host by now.
    private mutating func requireRoomToSponsor(_ account: AccountName) throws {
        let person = try transaction.get(account.key, from: StudyStore.persons)?.document
        let hosted = try transaction.hosted(by: account.key, of: person?.hosted ?? [], at: now, rules)
        guard hosted.count < rules.sponsored else {
            let sessions = rules.sponsored == 1 ? "sponsored session" : "sponsored sessions"
            throw CommandFailure(
                .conflict, "you may have \(rules.sponsored) \(sessions) open without attending", field: "sponsored")
        }
        let ids = hosted.map(\.id)
        try changePerson(account) { $0.hosted = ids }
    }

    /// Requires that a class has not too many open sessions, with the new one.
    private func requireRoom(in classID: ObjectID) throws {
        let max = rules.sessions
        // Those that are stored are not fewer, and mostly there are few.
        let stored = try transaction.openSessions(of: classID)
        guard stored.count > max, stored.count(where: { $0.isOpen(at: now, rules) }) > max else { return }
        throw CommandFailure(.conflict, "the class has \(max) open sessions, and no more are possible")
    }

    /// Takes a person out of the session in which they are, before they come into another one. Its host ends it.
    ///
    /// - Parameter other: The session into which they come; `nil` for a new one.
    /// - Throws: ``CommandFailure`` with `conflict` and the field `session` if they are in one and do not want to leave it.
    mutating func leaveCurrent(of account: AccountName, for other: ObjectID?, mayLeave: Bool) throws {
        let person = try transaction.get(account.key, from: StudyStore.persons)?.document
        guard let current = person?.current, current != other,
            let session = try transaction.get(current, from: StudyStore.sessions)?.document,
            session.open == true, session.attends(account.key)
        else { return }
        guard session.isOpen(at: now, rules) else {
            // It is written down, so that no clock that is behind finds it open with this person in it.
            try apply(.clock, to: current, of: session.classID)
            return
        }
        guard mayLeave else {
            throw CommandFailure(.conflict, "you are in another session, and have to leave that one first", field: "session")
        }
        try apply(.leave(account: account.key), to: current, of: session.classID)
    }
}

extension Transaction {
    /// The session that a request has made which is now repeated; `nil` for none.
    fileprivate func session(madeBy request: String) throws -> SessionDocument? {
        try page(of: StudyStore.sessions, Query(where: StudyStore.sessionRequest == request), limit: 1).documents.first?.document
    }

    /// The open sessions that a person hosts without attending them.
    ///
    /// - Parameters:
    ///   - account: In lower case.
    ///   - ids: Among these.
    func hosted(
        by account: String, of ids: [ObjectID], at now: UnixMilliseconds, _ rules: StudyRules
    ) throws -> [SessionDocument] {
        try get(all: ids, from: StudyStore.sessions).map(\.document).filter { session in
            session.host == account && !session.attends(account) && session.isOpen(at: now, rules)
        }
    }
}

extension SessionDocument {
    /// Whether a request with this draft may have started it. Its host may have changed it since.
    fileprivate func began(as draft: SessionDraft) -> Bool {
        // An earlier version has stored topics as they came.
        topics.map(\.tidied) == draft.topics.map(\.tidied) && place == draft.place.coordinate
            && ends == Self.plannedEnd(from: starts, minutes: draft.minutes)
    }
}

extension StudyRules {
    func isNear(_ position: Position?, to place: Coordinate) -> Bool {
        position.map { nearness(of: $0, to: place) == .near } ?? false
    }
}
