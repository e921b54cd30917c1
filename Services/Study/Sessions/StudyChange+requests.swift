import Base
import Schemas
import Store

/// What persons do with sessions.
extension StudyChange {
    /// The caller attends a session. Repeated, it changes nothing.
    ///
    /// - Throws: ``CommandFailure`` as ``JoinSession`` says.
    mutating func join(_ id: ObjectID, of classID: ObjectID, as account: AccountName, leave: Bool) throws -> SessionDocument {
        let member = try transaction.require(.joinSession, of: account, in: classID).member
        let session = try transaction.openSession(id, for: member, at: now, rules)
        guard !session.attends(account.key) else { return session }
        try leaveCurrent(of: account, for: id, mayLeave: leave)
        let attendant = SessionDocument.Attendant(
            account: member.account, name: member.name, role: member.role, number: member.number, joined: now)
        return try apply(.join(attendant), to: id, of: classID).session
    }

    /// The host changes a session, or hands it over.
    ///
    /// - Throws: ``CommandFailure`` as ``UpdateSession`` says.
    mutating func update(
        _ id: ObjectID, of classID: ObjectID, _ edit: SessionEdit, by account: AccountName
    ) throws -> SessionDocument {
        let member = try transaction.require(.changeOwnSession, of: account, in: classID).member
        var session = try transaction.openSession(id, for: member, at: now, rules)
        guard session.host == account.key else { throw CommandFailure.forHostAlone }
        if let place = edit.place, !(session.sponsored && member.role.isStaff) {
            try rules.requireNear(edit.position, to: place.coordinate)
        }
        session = try apply(.edit(edit), to: id, of: classID).session
        guard let next = edit.host else { return session }
        return try apply(.handOver(to: next.key), to: id, of: classID).session
    }

    /// The caller leaves a session, or ends it as its host. Repeated, or once it has ended, it changes nothing.
    ///
    /// - Throws: ``CommandFailure`` with `not_found`.
    mutating func leave(_ id: ObjectID, of classID: ObjectID, as account: AccountName) throws {
        let member = try transaction.require(.readSessions, of: account, in: classID).member
        guard try transaction.isOpen(id, for: member, at: now, rules) else { return }
        try apply(.leave(account: account.key), to: id, of: classID)
    }

    /// The class's staff ends a session of another host. Once it has ended, it changes nothing.
    ///
    /// - Throws: ``CommandFailure``: `not_found`, `forbidden`.
    mutating func end(_ id: ObjectID, of classID: ObjectID, by account: AccountName) throws {
        let member = try transaction.require(.readSessions, of: account, in: classID).member
        let session = try transaction.session(id, of: classID)
        // Its own host needs no right of the staff.
        guard session.host != account.key else { return try leave(id, of: classID, as: account) }
        let isOpen = try transaction.isOpen(id, for: member, at: now, rules)
        let role = try transaction.role(ofHostOf: session)
        _ = try transaction.require(.end(sessionOf: role), of: account, in: classID)
        guard isOpen else { return }
        let ended = try apply(.end(.staff, by: account.key), to: id, of: classID).session
        record(
            EndSession.name, .studySession(id),
            before: [
                "class": .string("\(classID)"), "host": .string(ended.hostName?.description ?? ""),
                "host_role": .string(role.rawValue),
            ])
    }

    /// The host's device has reported a position, of which only this is kept: whether it is in the area.
    ///
    /// - Throws: ``CommandFailure``: `not_found`, `forbidden`, `conflict` with the field `ended`.
    mutating func report(
        _ position: Position, at id: ObjectID, of classID: ObjectID, by account: AccountName
    ) throws -> HostPresence {
        let member = try transaction.require(.reportPosition, of: account, in: classID).member
        let session = try transaction.openSession(id, for: member, at: now, rules)
        guard session.host == account.key else { throw CommandFailure.forHostAlone }
        let nearness = session.place.map { rules.nearness(of: position, to: $0) } ?? .unknown
        let outputs = try apply(.report(nearness), to: id, of: classID).outputs
        for case .presence(let presence) in outputs { return presence }
        return HostPresence(session.area.state)
    }
}

extension Transaction {
    /// An open session of a class.
    ///
    /// - Parameter member: The person of the class who asks for it.
    /// - Throws: ``CommandFailure``: `conflict` with the field `ended` if it has ended, as long as the person may know of it;
    ///   `not_found`.
    func openSession(
        _ id: ObjectID, for member: EnrolmentDocument, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws -> SessionDocument {
        let session = try session(id, of: member.classID).settled(at: now, rules)
        guard let ended = session.ended else { return session }
        guard try now <= ended + StudyLimits.endedTime || sees(session, member) else { throw CommandFailure.noSession(id) }
        throw CommandFailure.sessionEnded
    }

    /// Whether a session is open; as ``openSession(_:for:at:_:)``, for what changes nothing once it has ended.
    ///
    /// - Throws: ``CommandFailure`` with `not_found`.
    func isOpen(
        _ id: ObjectID, for member: EnrolmentDocument, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws -> Bool {
        do {
            _ = try openSession(id, for: member, at: now, rules)
            return true
        } catch let failure as CommandFailure where failure == .sessionEnded {
            return false
        }
    }

    /// Whether a person of the class sees a session that has ended: who was there, and the professor.
    func sees(_ session: SessionDocument, _ member: EnrolmentDocument) throws -> Bool {
        if ClassAction.readHistory.isAllowed(to: member.role) { return true }
        return try attendance(of: member.account, at: session.id) != nil
    }

    /// What the host is in the class now.
    fileprivate func role(ofHostOf session: SessionDocument) throws -> ClassRole {
        guard let host = session.host else { return session.hostRole }
        return try enrolment(of: host, in: session.classID)?.role ?? session.hostRole
    }
}

extension CommandFailure {
    static let forHostAlone = CommandFailure(.forbidden, "only the host of the session may do that")
}
