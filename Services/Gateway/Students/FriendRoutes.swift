import Base
import Bus
import HTTPTypes
import Schemas

/// A person's friends, requests, and those whom the person has blocked.
struct FriendRoutes: Feature {
    /// The last part of a path beside those of friends. No new account has the name (``AccountName/isPathWord``).
    static let requestsSegment = "requests"

    let people: CommandClient

    var section: APISection {
        APISection(
            "Friends",
            "Friendship is asked for and accepted. A person is named by their account. 404 for everyone whom `GET /users/{id}` does not find."
        )
    }

    private static let path: [String: any Route.Document.Type] = ["id": AccountName.self]

    var routes: [Route] {
        [
            Route(.get, "/user/friends", right: .person, answer: .ok(FriendList.self)) { call in
                Answer(try await people.request(ListFriends(), context: call.caller))
            }.documented("List one's friends", "Their ids, which are the names of their accounts."),
            Route(.post, "/user/friends", right: .person, body: FriendDraft.self, answer: .ok(FriendState.self)) { call in
                try call.checkRepeatableKey()
                let command = AskFriend(try await call.body().account, from: call.principal.device)
                return Answer(try await people.requestLimited(command, context: call.caller))
            }.documented(
                "Ask for friendship",
                "If the other has asked before, the two are friends at once. Repeated, it changes nothing. 409 with too many unanswered requests "
                    + "or friends.",
                headers: [.repeatableKey], problems: [.notFound, .conflict]),
            Route(.get, "/user/friends/\(Self.requestsSegment)", right: .person, answer: .ok(FriendRequests.self)) { call in
                Answer(try await people.request(ListFriendRequests(), context: call.caller))
            }.documented("List the requests that nobody has answered", "`received` are those of others, the newest first."),
            Route(.put, "/user/friends/:id", right: .person, body: FriendAnswer.self, answer: .noContent) { call in
                let command = AnswerFriend(try call.account("id"), accept: try await call.body().accept)
                _ = try await people.request(command, context: call.caller)
                return Answer()
            }.documented(
                "Accept or decline a request", "The one who has asked is not told of a decline. 409 with too many friends.",
                path: Self.path, problems: [.conflict]),
            Route(.delete, "/user/friends/:id", right: .person, answer: .noContent) { call in
                _ = try await people.request(RemoveFriend(call.account("id")), context: call.caller)
                return Answer()
            }.documented(
                "End a friendship, or take back a request", "The answer is the same if there is none.", path: Self.path),
            Route(.get, "/user/blocked", right: .person, answer: .ok(ListBlocked.Reply.self)) { call in
                Answer(try await people.request(ListBlocked(), context: call.caller))
            }.documented("List whom one has blocked"),
            Route(.put, "/user/blocked/:id", right: .person, answer: .noContent) { try await block($0, true) }
                .documented(
                    "Block a person",
                    "Neither finds the other from now on, and what they were to each other has ended. The blocked person is not told. 409 with too "
                        + "many blocked ones.",
                    path: Self.path, problems: [.conflict]),
            Route(.delete, "/user/blocked/:id", right: .person, answer: .noContent) { try await block($0, false) }
                .documented(
                    "Unblock a person", "It makes no friends again. The answer is the same if the person was not blocked.",
                    path: Self.path),
        ]
    }

    private func block(_ call: PersonCall<NoBody>, _ isBlocked: Bool) async throws -> Answer<NoContent> {
        _ = try await people.requestLimited(BlockPerson(call.account("id"), blocked: isBlocked), context: call.caller)
        return Answer()
    }
}

/// The body of `POST /user/friends`.
struct FriendDraft: Codable, Sendable {
    let account: AccountName

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// The body of `PUT /user/friends/:id`.
struct FriendAnswer: Codable, Sendable {
    let accept: Bool

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case accept
    }
}
