import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas

/// The study sessions of all of a person's classes: the own ones, the past ones, and those nearby.
struct OwnSessionRoutes: Feature {
    let study: CommandClient

    private static let path = "/user/sessions"

    var section: APISection {
        APISection(
            "One's own sessions",
            "A person is in at most one session. The class's staff may host sponsored ones beside it.")
    }

    var routes: [Route] {
        [
            Route(.get, Self.path, right: .person, answer: .ok(ReadOwnSessions.Reply.self)) { call in
                Answer(try await study.request(ReadOwnSessions(), for: call))
            }.documented(
                "Read one's sessions and invitations",
                "`current` is the one in which one is, `hosted` has the sponsored ones that one hosts and does not attend, and "
                    + "`invites` the invitations, the newest first."),
            Route(
                .get, Self.path + "/past", right: .person, query: StudyPageQuery.self,
                answer: .ok(ListOwnPastSessions.Reply.self), past
            ).documented(
                "List one's past sessions",
                "The latest first. It does not say who else was there.", answerHeaders: [.nextPage]),
            Route(
                .post, Self.path + "/near", right: .person, body: FindNearSessions.self, answer: .ok(FindNearSessions.Reply.self)
            ) { call in
                try call.checkRepeatableKey()
                return Answer(try await study.request(try await call.body(), for: call))
            }.documented(
                "Find sessions nearby",
                "The open sessions of all of one's classes within `radius` metres of `position`, the nearest first, at most "
                    + "\(StudyLimits.maxNear). They may be a second old. It is a POST, so that no log of a proxy has the "
                    + "position; the hub keeps none.",
                headers: [.repeatableKey]),
        ]
    }

    private func past(
        _ call: PersonCall<NoBody>, _ query: StudyPageQuery
    ) async throws -> Answer<ListOwnPastSessions.Reply> {
        let page = try await study.request(
            ListOwnPastSessions(limit: query.pageSize, after: query.after), for: call)
        return Answer(page, headers: call.link(to: Self.path + "/past", limit: query.pageSize, after: page.next))
    }
}
