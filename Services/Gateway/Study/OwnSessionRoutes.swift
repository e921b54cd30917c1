import Base
import Bus
import HTTPTypes
import Hummingbird
import Logging
import Schemas

/// The study sessions of all of a person's classes: the own ones, the past ones, and those nearby.
struct OwnSessionRoutes: Feature {
    let study: CommandClient
    /// Knows who is still a friend.
    let people: CommandClient
    let logger: Logger

    private static let path = "/user/sessions"
    /// How long an answer with invitations waits for the people service, without which it has none.
    private static let peopleTimeout = Duration.seconds(2)

    var section: APISection {
        APISection(
            "One's own sessions",
            "A person is in at most one session. The class's staff may host sponsored ones beside it.")
    }

    var routes: [Route] {
        [
            Route(.get, Self.path, right: .person, answer: .ok(ReadOwnSessions.Reply.self), own).documented(
                "Read one's sessions and invitations",
                "`current` is the one in which one is, `hosted` has the sponsored ones that one hosts and does not attend, and "
                    + "`invites` the invitations of those who are still friends, the newest first. While the people service is "
                    + "away there are none."),
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

    /// Only friends invite each other. Somebody who is none any more, or whom the caller does not find any more, is in no answer.
    private func own(_ call: PersonCall<NoBody>) async throws -> Answer<ReadOwnSessions.Reply> {
        let own = try await study.request(ReadOwnSessions(), for: call)
        guard !own.invites.isEmpty else { return Answer(own) }
        let friends = await friends(of: call)
        let invites = own.invites.filter { friends.contains($0.by) }
        return Answer(
            ReadOwnSessions.Reply(current: own.current, hosted: own.hosted, invites: invites, now: own.now))
    }

    /// The caller's friends; nobody while the people service is away, and for an account of the staff.
    private func friends(of call: PersonCall<NoBody>) async -> Set<AccountName> {
        do throws(CommandFailure) {
            return Set(try await people.request(ListFriends(), timeout: Self.peopleTimeout, context: call.caller).friends)
        } catch {
            if ![.unavailable, .deadlineExceeded, .overloaded, .forbidden].contains(error.status) {
                logger.warning("no invitation is shown: the friends cannot be read", metadata: ["error": "\(error)"])
            }
            return []
        }
    }

    private func past(
        _ call: PersonCall<NoBody>, _ query: StudyPageQuery
    ) async throws -> Answer<ListOwnPastSessions.Reply> {
        let page = try await study.request(
            ListOwnPastSessions(limit: query.pageSize, after: query.after), for: call)
        return Answer(page, headers: call.link(to: Self.path + "/past", limit: query.pageSize, after: page.next))
    }
}
