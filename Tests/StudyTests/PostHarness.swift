import Base
import Bus
import Schemas
import TestSupport

@testable import Study

/// What the tests of posts, invitations and pushes do with sessions.
extension TestPerson {
    /// Starts a session in a class, and attends it if it is not sponsored.
    func beginsSession(in classID: ObjectID, sponsored: Bool = false, minutes: Int = 60) async throws -> ObjectID {
        let place = Place(latitude: 51.5007, longitude: -0.1246, name: "Library")
        let draft = SessionDraft(
            topics: ["Waves"], description: "bring Ann's notes", place: place, minutes: minutes,
            position: sponsored ? nil : Position(latitude: 51.5007, longitude: -0.1246, accuracy: 10),
            sponsored: sponsored ? true : nil, attends: sponsored ? false : nil)
        return try await request(AddSession(to: classID, draft)).session.id
    }

    func comes(to session: ObjectID, of classID: ObjectID) async throws {
        try await request(JoinSession(session, of: classID))
    }

    /// Leaves a session, or ends it as its host.
    func leaves(_ session: ObjectID, of classID: ObjectID) async throws {
        try await request(LeaveSession(session, of: classID))
    }

    @discardableResult
    func posts(_ text: String, to session: ObjectID, of classID: ObjectID, key: String? = nil) async throws -> SessionPost {
        try await request(AddPost(text, to: session, of: classID, requestKey: key))
    }

    /// The posts that the person sees, the newest first.
    func readsPosts(to session: ObjectID, of classID: ObjectID) async throws -> [SessionPost] {
        try await request(ListPosts(to: session, of: classID, limit: 100)).posts
    }

    func invites(_ names: AccountName..., to session: ObjectID, of classID: ObjectID) async throws -> [AccountName] {
        try await request(InviteToSession(names, to: session, of: classID)).invited
    }

    /// The sessions to which the person is invited, with who invites.
    func readsInvites() async throws -> [SessionInvite] { try await request(ReadOwnSessions()).invites }
}

extension RunningStudy {
    /// Runs a message log of the test beside the service.
    func with(_ messageLog: OutboxDouble, _ body: () async throws -> Void) async throws {
        try await messageLog.run(at: "ipc://\(folder)/run/message-log.sock", body)
    }
}
