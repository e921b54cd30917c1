import Base
import Schemas
import Store

/// The changes of what persons are in classes.
extension StudyChange {
    /// A person joins the class of a key. With a key of a role that they have, or of a lower one, nothing changes and nothing
    /// is used.
    ///
    /// - Parameter code: As it is stored.
    /// - Throws: ``CommandFailure``: `unauthenticated` for an erased person, ``CommandFailure/wrongClassKey``, `conflict` at a
    ///   limit.
    mutating func join(by code: String, as account: AccountName) throws -> ClassMembership {
        try requireNotErased(account)
        guard let key = try transaction.classKey(code: code),
            let group = try transaction.get(key.classID, from: StudyStore.classes)?.document
        else { throw CommandFailure.wrongClassKey }
        let member = try transaction.enrolment(of: account.key, in: group.id)
        let isPromotion = member?.role == .student && key.role == .assistant
        if let member, !isPromotion { return (group, member) }
        guard group.closed == nil, !key.isUsedUp else { throw CommandFailure.wrongClassKey }
        try transaction.update(key.id, in: StudyStore.keys) { $0.used += 1 }
        if let member { return (group, try promote(member, to: key.role)) }
        let joined = try enrol(account, in: group.id, as: key.role)
        guard joined.group.members <= rules.members else {
            throw CommandFailure(.conflict, "the class has \(rules.members) persons, and no more are possible")
        }
        // That somebody is in a class is their own business, but not that they moderate it.
        if key.role.isStaff { recordRole(of: joined.member, before: nil) }
        return joined
    }

    /// The caller is not in a class any more. Nothing changes if they are not in it.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` for its professor.
    mutating func leave(_ id: ObjectID, as account: AccountName) throws {
        guard let member = try transaction.enrolment(of: account.key, in: id) else { return }
        guard ClassAction.leaveClass.isAllowed(to: member.role) else {
            throw CommandFailure(.conflict, "you are its professor: the operator of the hub gives it to another one first")
        }
        try remove(member)
    }

    /// The professor gives a person another role.
    ///
    /// - Throws: ``CommandFailure``: `not_found`, `forbidden`; `conflict` for the professor's own role.
    mutating func changeRole(_ command: ChangeClassRole, by account: AccountName) throws -> EnrolmentDocument {
        _ = try transaction.require(.changeRoster, of: account, in: command.classID)
        guard let member = try transaction.enrolment(of: command.account.key, in: command.classID) else {
            throw CommandFailure(.notFound, "no person \(command.account) in the class \(command.classID)")
        }
        try requireNoProfessor(member)
        return member.role == command.role ? member : try promote(member, to: command.role)
    }

    /// The professor removes a person. Nothing changes if they are not in the class.
    ///
    /// - Throws: ``CommandFailure``: `not_found`, `forbidden`; `conflict` for the professor.
    mutating func remove(_ command: RemoveClassMember, by account: AccountName) throws {
        _ = try transaction.require(.changeRoster, of: account, in: command.classID)
        guard let member = try transaction.enrolment(of: command.account.key, in: command.classID) else { return }
        try requireNoProfessor(member)
        try remove(member)
        record(
            RemoveClassMember.name, .classMember(member.name, in: member.classID), before: Self.audited(member.role))
    }

    /// A person is not in a class any more: leaves its sessions, or ends them as their host. A class whose professor is removed
    /// has none.
    mutating func remove(_ member: EnrolmentDocument) throws {
        try leaveSessions(of: member.name, in: member.classID)
        try forgetInvites(of: member)
        try transaction.delete(member.id, from: StudyStore.members)
        try transaction.update(member.classID, in: StudyStore.classes) { group in
            group.members -= 1
            guard group.professor == member.account else { return }
            group.professor = nil
            group.professorName = nil
        }
        try changePerson(member.name) { $0.classes -= 1 }
        changed(.person(member.name, .classes, id: member.classID))
    }

    /// Adds a person to a class, with the next number.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` if the person is in too many classes.
    mutating func enrol(_ account: AccountName, in classID: ObjectID, as role: ClassRole) throws -> ClassMembership {
        let person = try changePerson(account) { $0.classes += 1 }
        guard person.classes <= rules.classes else {
            throw CommandFailure(
                .conflict, "\(account) is in \(rules.classes) classes, and no more are possible; leave one first")
        }
        let group = try transaction.update(classID, in: StudyStore.classes) { group in
            group.members += 1
            group.lastNumber += 1
        }.document
        let member = EnrolmentDocument(
            id: ObjectID(), classID: classID, account: account.key, name: account, role: role, number: group.lastNumber,
            joined: now, announces: role.isStaff ? true : nil)
        try transaction.insert(member, into: StudyStore.members)
        changed(.person(account, .classes, id: classID))
        return (group, member)
    }

    /// Gives a person of a class another role. The class's staff gets pushes about new sessions unless they switch them off.
    @discardableResult
    mutating func setRole(_ role: ClassRole, of member: EnrolmentDocument) throws -> EnrolmentDocument {
        let other = try transaction.update(member.id, in: StudyStore.members) { member in
            member.role = role
            member.announces = role.isStaff ? true : nil
        }.document
        try changePerson(member.name) { _ in }
        changed(.person(member.name, .classes, id: member.classID))
        return other
    }

    /// Changes what a person is part of. The person's document is made if it is missing, and is always written.
    @discardableResult
    mutating func changePerson(
        _ account: AccountName, _ change: (inout StudyPersonDocument) -> Void
    ) throws -> StudyPersonDocument {
        guard try transaction.get(account.key, from: StudyStore.persons) != nil else {
            var person = StudyPersonDocument(account)
            change(&person)
            return try transaction.insert(person, into: StudyStore.persons).document
        }
        return try transaction.update(account.key, in: StudyStore.persons) { person in
            change(&person)
            person.touch()
        }.document
    }

    /// Removes the invitations to and by a person to sessions of a class.
    private mutating func forgetInvites(of member: EnrolmentDocument) throws {
        let queries: [Query<InviteDocument>] = [
            Query(where: StudyStore.inviteTo == member.account), Query(where: StudyStore.inviteBy == member.account),
        ]
        for query in queries {
            var cursor: Cursor?
            repeat {
                let page = try transaction.page(of: StudyStore.invites, query, after: cursor, limit: 500)
                let found = page.documents.map(\.document).filter { $0.classID == member.classID }
                for invite in found where invite.to != member.account {
                    guard let other = try transaction.enrolment(of: invite.to, in: invite.classID) else { continue }
                    changed(.person(other.name, .invites, id: invite.session))
                }
                try transaction.delete(found.map(\.id), from: StudyStore.invites)
                cursor = page.next
            } while cursor != nil
        }
    }

    /// Gives a person another role, which the audit log has.
    private mutating func promote(_ member: EnrolmentDocument, to role: ClassRole) throws -> EnrolmentDocument {
        let other = try setRole(role, of: member)
        recordRole(of: other, before: member.role)
        return other
    }

    private mutating func recordRole(of member: EnrolmentDocument, before: ClassRole?) {
        record(
            ChangeClassRole.name, .classMember(member.name, in: member.classID), before: before.map(Self.audited),
            after: Self.audited(member.role))
    }

    private static func audited(_ role: ClassRole) -> JSONValue { ["role": .string(role.rawValue)] }

    private func requireNoProfessor(_ member: EnrolmentDocument) throws {
        guard member.role != .professor else {
            throw CommandFailure(
                .conflict, "account: \(member.name) is the professor of the class", field: "account")
        }
    }
}

extension Transaction {
    /// A key that has not expired, also one that is used up; `nil` for none.
    fileprivate func classKey(code: String) throws -> ClassKeyDocument? {
        try page(of: StudyStore.keys, Query(where: StudyStore.keyCode == code), limit: 1).documents.first?.document
    }
}
