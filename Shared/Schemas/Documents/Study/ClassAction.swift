import Base

/// What a person is in a class.
package enum ClassRole: String, ClosedEnum {
    case student
    /// A teaching assistant.
    case assistant = "ta"
    case professor

    /// Whether the person may sponsor and moderate sessions.
    package var isStaff: Bool { self != .student }
}

/// What persons do in a class, in the session of a class, and with its posts. The permissions matrix is ``roles``; who is in no
/// role of a class does not find it (`not_found`).
package enum ClassAction: String, ClosedEnum {
    // The class.
    case readClass, leaveClass, readSessions, readClassmates, chooseNewSessionPushes
    case changeClass, manageKeys, changeRoster
    case readRoster
    case readHistory

    // Sessions. A person without the right to sponsor has to be near to start one.
    case startSession, sponsorSession
    case joinSession, inviteToSession
    /// Of a session that the person hosts.
    case changeOwnSession, handOverOwnSession, endOwnSession, reportPosition
    /// Of a session that somebody else hosts, by that host's role.
    case endStudentsSession, endAssistantsSession, endProfessorsSession
    case changeOthersSession

    // Posts.
    case readPosts, post
    case removeOwnPost
    /// Of another person's post, by the author's role.
    case removeStudentsPost, removeAssistantsPost, removeProfessorsPost
    case readRemovedPosts

    /// The roles that may do it.
    package var roles: Set<ClassRole> {
        switch self {
        case .readClass, .readSessions, .readClassmates, .chooseNewSessionPushes, .startSession, .joinSession, .inviteToSession,
            .changeOwnSession, .handOverOwnSession, .endOwnSession, .reportPosition, .readPosts, .post, .removeOwnPost:
            [.student, .assistant, .professor]
        // A professor gives the class to another one first.
        case .leaveClass: [.student, .assistant]
        case .sponsorSession, .endStudentsSession, .removeStudentsPost, .readRoster: [.assistant, .professor]
        case .changeClass, .manageKeys, .changeRoster, .readHistory, .endAssistantsSession, .endProfessorsSession,
            .removeAssistantsPost, .removeProfessorsPost, .readRemovedPosts:
            [.professor]
        case .changeOthersSession: []
        }
    }

    package func isAllowed(to role: ClassRole) -> Bool { roles.contains(role) }

    /// To end a session of another host.
    package static func end(sessionOf host: ClassRole) -> ClassAction {
        switch host {
        case .student: .endStudentsSession
        case .assistant: .endAssistantsSession
        case .professor: .endProfessorsSession
        }
    }

    /// To remove the post of another author.
    package static func remove(postOf author: ClassRole) -> ClassAction {
        switch author {
        case .student: .removeStudentsPost
        case .assistant: .removeAssistantsPost
        case .professor: .removeProfessorsPost
        }
    }
}
