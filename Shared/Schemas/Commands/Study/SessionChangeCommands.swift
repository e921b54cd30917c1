package import Base

// The commands that change study sessions. The header's `actor` is required: it is the person. The audit log has none of them but
// `study_session.end`.

/// `study_session.add`: starts a session, whose host is the caller.
///
/// - `conflict` with the field `position` if the caller has to be near and is not, or the position is not accurate enough; with
///   `session` if the caller is in another session and does not `leave` it; with `sponsored` if the caller has too many open
///   sponsored sessions; with `minutes` if it would last too long; with `request_key` if the key was used for another session;
///   without a field if the class is closed, or has too many open sessions.
/// - `forbidden` with the field `sponsored` for students.
///
/// A repeated command with the same request key gets the same session, as it is now.
package struct AddSession: Command, Checked {
    package static let name = "study_session.add"
    package typealias Reply = SessionAnswer

    package let classID: ObjectID
    package let draft: SessionDraft
    package let requestKey: String?

    package init(to classID: ObjectID, _ draft: SessionDraft, requestKey: String? = nil) {
        self.classID = classID
        self.draft = draft
        self.requestKey = requestKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case draft
        case classID = "class"
        case requestKey = "request_key"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(requestKey, CodingKeys.requestKey)
    }
}

/// `study_session.join`: the caller attends a session from now on. Repeated, it changes nothing.
///
/// `conflict` with the field `session` if the caller is in another session and does not `leave` it; with `attendants` if there is
/// no room. Who leaves a session as its host ends it.
package struct JoinSession: Command {
    package static let name = "study_session.join"
    package typealias Reply = SessionAnswer

    package let classID: ObjectID
    package let id: ObjectID
    package let leave: Bool?

    package init(_ id: ObjectID, of classID: ObjectID, leave: Bool? = nil) {
        self.classID = classID
        self.id = id
        self.leave = leave
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, leave
        case classID = "class"
    }
}

/// `study_session.update`: changes a session, or hands it over. For its host; anyone else is `forbidden`.
///
/// `conflict` with the field `host` if that person does not attend it; with `position` and `minutes` as in ``AddSession``; with
/// `minutes`, too, if the session would have ended already. `overloaded` with `retry_after` at ``StudyLimits/changesPerMinute``.
package struct UpdateSession: Command {
    package static let name = "study_session.update"
    package typealias Reply = SessionAnswer

    package let classID: ObjectID
    package let id: ObjectID
    package let edit: SessionEdit

    package init(_ id: ObjectID, of classID: ObjectID, _ edit: SessionEdit) {
        self.classID = classID
        self.id = id
        self.edit = edit
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, edit
        case classID = "class"
    }
}

/// `study_session.leave`: by its host it ends a session for all; anyone else leaves it. Repeated, it changes nothing.
package struct LeaveSession: Command {
    package static let name = "study_session.leave"
    package typealias Reply = Done

    package let classID: ObjectID
    package let id: ObjectID

    package init(_ id: ObjectID, of classID: ObjectID) {
        self.classID = classID
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case classID = "class"
    }
}

/// `study_session.end`: ends a session of another host. For the class's staff (``ClassAction/end(sessionOf:)``); the audit log
/// has it. Repeated, it changes nothing.
package struct EndSession: Command {
    package static let name = "study_session.end"
    package typealias Reply = Done

    package let classID: ObjectID
    package let id: ObjectID

    package init(_ id: ObjectID, of classID: ObjectID) {
        self.classID = classID
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case classID = "class"
    }
}

/// `study_session.position`: where the host of a session is now. The service keeps only whether that is inside of the area.
/// `forbidden` for anyone else.
package struct ReportPosition: Command {
    package static let name = "study_session.position"
    package typealias Reply = HostPresence

    package let classID: ObjectID
    package let id: ObjectID
    package let position: Position

    package init(_ position: Position, at id: ObjectID, of classID: ObjectID) {
        self.classID = classID
        self.id = id
        self.position = position
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, position
        case classID = "class"
    }
}

/// `study_session.invite`: invites persons of the class to a session that the caller attends or hosts. Each of them has one
/// invitation to a session, that of the person who has invited them last, and is told of the first one alone. The caller of the
/// command has checked that they are friends of the person.
///
/// `conflict` with the field `accounts` at ``StudyRules/invites``. `overloaded` with `retry_after` at
/// ``StudyLimits/changesPerMinute``.
package struct InviteToSession: Command, Checked {
    package static let name = "study_session.invite"

    package struct Reply: Codable, Hashable, Sendable {
        /// Whom this command has invited. The others are not in the class, are there already, or were invited before.
        package let invited: [AccountName]

        package init(invited: [AccountName]) {
            self.invited = invited
        }
    }

    package let classID: ObjectID
    package let id: ObjectID
    package let accounts: [AccountName]

    package init(_ accounts: [AccountName], to id: ObjectID, of classID: ObjectID) {
        self.classID = classID
        self.id = id
        self.accounts = accounts
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, accounts
        case classID = "class"
    }

    package func check() throws(SchemaViolation) {
        let limits = 0...Int64(StudyLimits.maxInvited)
        guard limits.contains(Int64(accounts.count)) else {
            throw SchemaViolation(
                CodingKeys.accounts, "expected at most \(StudyLimits.maxInvited) accounts, found \(accounts.count)",
                limit: .range(limits))
        }
    }
}
