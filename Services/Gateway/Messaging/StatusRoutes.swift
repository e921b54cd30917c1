import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas

/// What persons show to their friends for a day.
struct StatusRoutes: Feature {
    let messaging: CommandClient

    private static let own = "/user/status"
    private static let all = "/user/statuses"

    var section: APISection {
        APISection(
            "Statuses",
            "A person has one status, a text or a picture, which friends see for 24 hours and nobody else. It ends at `expires` "
                + "to the millisecond, also on a device without a network: devices correct their clocks by `now`.")
    }

    var routes: [Route] { [setting, setting.bySeed, list, list.bySeed] + ownRoutes + friendsRoutes }

    private var setting: Route {
        Route(.post, Self.own, right: .person, body: StatusDraft.self, answer: .created(OwnStatus.self), set).documented(
            "Set one's status",
            "It takes the place of an earlier one. A text of at most \(MessagingLimits.status.max) characters, or the id of a "
                + "picture of `POST /user/pictures`. 404 with the `field` `picture` for one that the caller has not uploaded. "
                + "429 after too many messages and statuses within a minute.",
            headers: [.idempotencyKey], answerHeaders: [.location], problems: [.notFound], operation: "sendStatus")
    }

    private var list: Route {
        Route(.get, Self.all, right: .person, answer: .ok(StatusList.self)) { call in
            Answer(try await messaging.request(ListStatuses(on: call.principal.device), for: call))
        }.documented(
            "List the statuses of friends",
            "The newest first, and one's own. A device polls them: 429 if it has asked a moment ago.", operation: "getStatus")
    }

    private var ownRoutes: [Route] {
        [
            Route(.get, Self.own, right: .person, answer: .ok(ReadOwnStatus.Reply.self)) { call in
                Answer(try await messaging.request(ReadOwnStatus(), for: call))
            }.documented("Read one's own status", "`seen` is how many friends have seen it. Without one there is no `status`."),
            Route(.delete, Self.own, right: .person, answer: .noContent) { call in
                _ = try await messaging.request(RemoveStatus(), for: call)
                return Answer()
            }.documented("Remove one's status", "Repeated, it changes nothing."),
        ]
    }

    private var friendsRoutes: [Route] {
        [
            Route(.put, Self.all + "/seen", right: .person, body: SeenStatuses.self, answer: .noContent) { call in
                _ = try await messaging.request(MarkStatusesSeen(try await call.body()), for: call)
                return Answer()
            }.documented(
                "Mark statuses as seen", "Those that have ended, and those of others than friends, are ignored."),
            Route(.get, Self.all + "/:id/picture", right: .person, answer: .picture) { call in
                try await messaging.picture(of: .status, call.identifier("id"), for: call)
            }.documented(
                "Read the picture of a status", "One's own, or that of a friend, until it ends.",
                also: AnswerForm.otherPictures),
        ]
    }

    private func set(_ call: PersonCall<StatusDraft>) async throws -> Answer<OwnStatus> {
        let key = try call.request.idempotencyKey
        let command = SetStatus(try await call.body(), requestKey: key)
        return Answer(try await messaging.request(command, for: call), headers: [.location: Self.own])
    }
}
