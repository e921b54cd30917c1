import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas

/// The study sessions of a class.
struct StudySessionRoutes: Feature {
    let study: CommandClient
    let people: CommandClient
    /// An export ends with its device.
    let devices: DeviceAccess

    static let all = ClassRoutes.one + "/sessions"
    static let one = all + "/:sessionID"

    var section: APISection {
        APISection(
            "Study sessions",
            "People of a class meet at a place for a time. The hub's clock counts: devices compute what is left of a session "
                + "from `ends` and `now`. A position that is sent counts for that request alone; the hub keeps none. It can be "
                + "forged. A session that has ended is 409 with the `field` `ended` for a day, and then 404.")
    }

    var routes: [Route] { listRoutes + sessionRoutes + [invite, end, position] }

    private var listRoutes: [Route] {
        [
            Route(.get, Self.all, right: .person, answer: .ok(ListSessions.Reply.self)) { call in
                Answer(try await study.request(ListSessions(of: call.identifier("classID")), for: call))
            }.documented("List the open sessions of a class", "The one that began last comes first."),
            Route(.post, Self.all, right: .person, body: SessionDraft.self, answer: .created(SessionAnswer.self), add).documented(
                "Start a session",
                "Its host is the caller, whose `position` has to be near `place`. The class's staff may start a `sponsored` one "
                    + "from afar. 403 with the `field` `sponsored` for students. 409 with the `field` `position` if the caller "
                    + "is not near, or the position is not accurate enough; `session` if the caller is in another session, which "
                    + "`leave` leaves, or ends as its host; `sponsored` with too many sponsored ones; `minutes` if it would last "
                    + "too long; and without a field if the class is closed or has too many sessions.",
                headers: [.idempotencyKey], answerHeaders: [.location], problems: [.conflict]),
            Route(
                .get, Self.all + "/past", right: .person, query: PastSessionQuery.self,
                answer: .ok(ListPastSessions.Reply.self), past
            ).documented(
                "List the past sessions of a class",
                "For its professor: who was there, when, and what was studied. The latest comes first. Names are there as long "
                    + "as the class keeps them, and then numbers. `from` and a later `until` are about a session's end. With "
                    + "`format=csv` or `Accept: text/csv` the answer is a CSV file with a line for each attendance.",
                answerHeaders: [.nextPage], also: [AnswerForm(.ok, mediaType: "text/csv")]),
        ]
    }

    private var sessionRoutes: [Route] {
        [
            Route(.get, Self.one, right: .person, answer: .ok(SessionAnswer.self)) { call in
                let (id, classID) = try Self.session(of: call)
                return Answer(try await study.request(GetSession(id, of: classID), for: call))
            }.documented(
                "Read a session",
                "One that has ended is 404, except for those who were there, who see nobody but themselves in it, and for the "
                    + "professor, who sees everybody."),
            Route(.post, Self.one, right: .person, optionalBody: SessionJoin.self, answer: .ok(SessionAnswer.self)) { call in
                try call.checkRepeatableKey()
                let (id, classID) = try Self.session(of: call)
                let command = JoinSession(id, of: classID, leave: try await call.optionalBody()?.leave)
                return Answer(try await study.request(command, for: call))
            }.documented(
                "Join a session",
                "Repeated, it changes nothing. The body may be empty. 409 with the `field` `session` if the caller is in another "
                    + "session, which `leave` leaves, or ends as its host; `attendants` if there is no room; `ended` if it has "
                    + "ended.",
                headers: [.repeatableKey], problems: [.conflict]),
            Route(.put, Self.one, right: .person, body: SessionEdit.self, answer: .ok(SessionAnswer.self)) { call in
                let (id, classID) = try Self.session(of: call)
                return Answer(try await study.request(UpdateSession(id, of: classID, try await call.body()), for: call))
            }.documented(
                "Change a session, or hand it over",
                "For its host. What is absent stays as it is; `host` is another attendant, who hosts it from now on. 409 with "
                    + "the `field` `host` if that person does not attend it; `position` if the caller is not near another "
                    + "`place`; `minutes` if it would last too long, or would have ended already; `ended` if it has ended. "
                    + "429 after too many changes within a minute.",
                problems: [.conflict]),
            Route(.delete, Self.one, right: .person, answer: .noContent) { call in
                let (id, classID) = try Self.session(of: call)
                _ = try await study.request(LeaveSession(id, of: classID), for: call)
                return Answer()
            }.documented("Leave a session", "By its host it ends the session for all. Repeated, it changes nothing."),
        ]
    }

    private var invite: Route {
        Route(
            .post, Self.one + "/invite", right: .person, body: InviteDraft.self, answer: .ok(InviteToSession.Reply.self)
        ) { call in
            try call.checkRepeatableKey()
            let (id, classID) = try Self.session(of: call)
            let wanted = try await call.body().accounts
            var rest = Set(try await people.requestUnlessStaff(ListFriends(), for: call)?.friends ?? [])
            // Each once, in the given order.
            let invited = wanted.filter { rest.remove($0) != nil }
            return Answer(try await study.request(InviteToSession(invited, to: id, of: classID), for: call))
        }.documented(
            "Invite friends to a session",
            "For those who attend or host it. `invited` has whom this request has invited: friends of the class who are not "
                + "there and were not invited before. Nothing is said about the others. 409 with the `field` `accounts` after "
                + "too many, and `ended` if it has ended. 429 after too many requests within a minute.",
            headers: [.repeatableKey], problems: [.conflict])
    }

    private var end: Route {
        Route(.post, Self.one + "/end", right: .person, answer: .noContent) { call in
            try call.checkRepeatableKey()
            let (id, classID) = try Self.session(of: call)
            _ = try await study.request(EndSession(id, of: classID), for: call)
            return Answer()
        }.documented(
            "End another host's session",
            "Teaching assistants end those of students, and professors any. The audit log has it. Repeated, it changes nothing.",
            headers: [.repeatableKey])
    }

    private var position: Route {
        Route(.post, Self.one + "/position", right: .person, body: Position.self, answer: .ok(HostPresence.self)) { call in
            try call.checkRepeatableKey()
            let (id, classID) = try Self.session(of: call)
            let command = ReportPosition(try await call.body(), at: id, of: classID)
            return Answer(try await study.request(command, for: call))
        }.documented(
            "Report where the host is",
            "Only whether that is in the session's area is kept. After `outside` the session ends at `ends`, unless the host "
                + "comes back; who was never inside does not end it, and neither does silence. 409 with the `field` `ended` if "
                + "it has ended.",
            headers: [.repeatableKey], problems: [.conflict])
    }

    /// The session and the class that a path names.
    static func session(of call: PersonCall<some Sendable>) throws -> (id: ObjectID, classID: ObjectID) {
        (try call.identifier("sessionID"), try call.identifier("classID"))
    }

    private func add(_ call: PersonCall<SessionDraft>) async throws -> Answer<SessionAnswer> {
        let classID = try call.identifier("classID")
        let command = AddSession(to: classID, try await call.body(), requestKey: try call.request.idempotencyKey)
        let added = try await study.request(command, for: call)
        return Answer(added, headers: [.location: "/classes/\(classID)/sessions/\(added.session.id)"])
    }
}
