import Base
import Schemas
import Store

/// What becomes of sessions. Whoever changes an open one does it by ``apply(_:to:of:)``.
extension StudyChange {
    /// Applies an input to a session, and stores all that follows from it: the session, the stays and what persons are part of,
    /// the events and the pushes.
    ///
    /// - Throws: ``CommandFailure``: `not_found`; the failures of ``SessionDocument/apply(_:at:_:)``. Nothing is stored then.
    @discardableResult
    mutating func apply(
        _ input: SessionInput, to id: ObjectID, of classID: ObjectID
    ) throws -> (session: SessionDocument, outputs: [SessionOutput]) {
        let before = try transaction.session(id, of: classID)
        var session = before
        let outputs = try session.apply(input, at: now, rules)
        if before.ended == nil, let ended = session.ended {
            let days = try transaction.nameDays(of: classID)
            session.namesUntil = ended + .seconds(Int64(days).multiplied(by: 86_400))
            if let reason = session.reason { count(reason) }
        }
        if session != before { try store(session) }
        for output in outputs { try follow(output, of: session) }
        switch input {
        case .posted, .postRemoved: changed(.inClass(classID, .posts, session: id))
        default: break
        }
        // The host's app says that the session will end, or that it will not.
        if session.area.state != before.area.state, let host = session.hostName {
            changed(.person(host, .session, id: id))
        }
        return (session, outputs)
    }

    private mutating func store(_ session: SessionDocument) throws {
        try update(session.id, of: session.classID) { $0 = session }
    }

    /// Changes a stored session, also in memory.
    mutating func update(_ id: ObjectID, of classID: ObjectID, _ change: (inout SessionDocument) -> Void) throws {
        try transaction.update(id, in: StudyStore.sessions, change)
        changedSession(id, of: classID)
    }

    private mutating func follow(_ output: SessionOutput, of session: SessionDocument) throws {
        switch output {
        case .joined(let attendant): try begin(attendant, at: session)
        case .left(let attendant): try end(attendant, at: session)
        case .ended(_, _, let told):
            for name in session.audience() { changed(.person(name, .session, id: session.id)) }
            if !told.isEmpty { try tell(.ended, of: session, to: told) }
        case .handedOver(let attendant, let name):
            for one in [attendant.name, name] { changed(.person(one, .session, id: session.id)) }
            try tell(.handedOver, of: session, to: [attendant.name])
        case .presence: break
        case .endsSoon(let told):
            if !told.isEmpty { try tell(.endsSoon, of: session, to: told) }
        case .posts(let told):
            if !told.isEmpty { try tell(.posted, of: session, to: told) }
        case .changed: changed(.inClass(session.classID, .sessions, session: session.id))
        }
    }

    // MARK: Stays

    /// A person is there from now on. The host learns of it the first time.
    mutating func begin(_ attendant: SessionDocument.Attendant, at session: SessionDocument) throws {
        try changePerson(attendant.name) { person in
            person.current = session.id
            person.hosted.removeAll { $0 == session.id }
        }
        changed(.person(attendant.name, .session, id: session.id))
        if let earlier = try transaction.attendance(of: attendant.account, at: session.id) {
            try transaction.update(earlier.id, in: StudyStore.attendances) { attendance in
                guard let left = attendance.left else { return }
                attendance.before = attendance.before.adding(max(0, (left - attendance.since).rawValue))
                attendance.since = attendant.joined
                attendance.left = nil
            }
            return
        }
        let attendance = AttendanceDocument(
            id: ObjectID(), session: session.id, classID: session.classID, account: attendant.account, name: attendant.name,
            number: attendant.number, joined: attendant.joined, since: attendant.joined, left: nil, before: 0)
        try transaction.insert(attendance, into: StudyStore.attendances)
        if let host = session.hostName, session.host != attendant.account { try tell(.joined, of: session, to: [host]) }
    }

    private mutating func end(_ attendant: SessionDocument.Attendant, at session: SessionDocument) throws {
        try changePerson(attendant.name) { person in
            if person.current == session.id { person.current = nil }
        }
        changed(.person(attendant.name, .session, id: session.id))
        guard let attendance = try transaction.attendance(of: attendant.account, at: session.id) else { return }
        let now = now
        try transaction.update(attendance.id, in: StudyStore.attendances) { $0.left = now }
    }

    // MARK: Persons and classes that go

    /// Takes a person out of open sessions. Those that they host end.
    ///
    /// - Parameter classID: Only of this class; `nil` for all.
    mutating func leaveSessions(of account: AccountName, in classID: ObjectID?) throws {
        guard let person = try transaction.get(account.key, from: StudyStore.persons)?.document else { return }
        let ids = Set(person.hosted + [person.current].compactMap(\.self))
        for session in try transaction.get(all: Array(ids), from: StudyStore.sessions).map(\.document) {
            guard session.open == true, classID == nil || session.classID == classID else { continue }
            if session.host == account.key {
                try apply(orClock: .end(.closed, by: account.key), to: session)
            } else if session.attends(account.key) {
                try apply(orClock: .leave(account: account.key), to: session)
            }
        }
    }

    /// Ends the open sessions of a class, whose professor knows of it.
    mutating func endSessions(of classID: ObjectID) throws {
        let professor = try transaction.get(classID, from: StudyStore.classes)?.document.professor
        for session in try transaction.openSessions(of: classID) {
            try apply(orClock: .end(.closed, by: professor), to: session)
        }
    }

    /// Of a session that is over it is written down that it has ended by itself.
    private mutating func apply(orClock input: SessionInput, to session: SessionDocument) throws {
        try apply(session.isOpen(at: now, rules) ? input : .clock, to: session.id, of: session.classID)
    }
}

extension Transaction {
    /// A session of a class.
    ///
    /// - Throws: ``CommandFailure`` with `not_found`.
    func session(_ id: ObjectID, of classID: ObjectID) throws -> SessionDocument {
        guard let session = try get(id, from: StudyStore.sessions)?.document, session.classID == classID else {
            throw CommandFailure.noSession(id)
        }
        return session
    }

    /// That a person was at a session; `nil` if not.
    ///
    /// - Parameter account: In lower case.
    func attendance(of account: String, at session: ObjectID) throws -> AttendanceDocument? {
        let query = Query(where: StudyStore.attendanceSession == session, StudyStore.attendanceAccount == account)
        return try page(of: StudyStore.attendances, query, limit: 1).documents.first?.document
    }

    /// All sessions of a class that are stored as open. Some may be over.
    func openSessions(of classID: ObjectID) throws -> [SessionDocument] {
        var sessions: [SessionDocument] = []
        var cursor: Cursor?
        repeat {
            let page = try page(of: StudyStore.sessions, .openSessions(of: classID), after: cursor, limit: 500)
            sessions += page.documents.map(\.document)
            cursor = page.next
        } while cursor != nil
        return sessions
    }

    fileprivate func nameDays(of classID: ObjectID) throws -> Int {
        try get(classID, from: StudyStore.classes)?.document.nameDays ?? StudyLimits.defaultNameDays
    }
}

extension Query<SessionDocument> {
    /// The sessions of a class that are stored as open.
    static func openSessions(of classID: ObjectID) -> Query<SessionDocument> {
        Query(where: StudyStore.sessionClass == classID, StudyStore.sessionOpen == true)
    }
}

extension CommandFailure {
    static func noSession(_ id: ObjectID) -> CommandFailure { CommandFailure(.notFound, "no study session \(id)") }
}
