import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas

/// A person's classes, and what their professors make of them.
struct ClassRoutes: Feature {
    let study: CommandClient
    let people: CommandClient

    private static let own = "/user/classes/:classID"
    static let one = "/classes/:classID"

    var section: APISection {
        APISection(
            "Classes",
            "A person has a role in each of their classes: `student`, `ta` (a teaching assistant) or `professor`. A class in "
                + "which the caller is not is 404, as one that does not exist.")
    }

    var routes: [Route] { ownRoutes + classRoutes }

    private var ownRoutes: [Route] {
        [
            Route(.get, "/user/classes", right: .person, answer: .ok(ListClasses.Reply.self)) { call in
                Answer(try await study.request(ListClasses(), for: call))
            }.documented("List one's classes", "In the order of their names. `role` is what one is in the class."),
            Route(.post, "/user/classes", right: .person, body: ClassKeyUse.self, answer: .created(StudyClass.self)) { call in
                try call.checkRepeatableKey()
                let command = JoinClass(key: try await call.body().key, address: call.address)
                return Self.made(try await study.request(command, for: call))
            }.documented(
                "Join a class",
                "With a key of its professor. Repeated, it changes nothing. 403 with the `field` `key` if the key is unknown, "
                    + "expired or used up, or its class is closed. 429 after too many wrong keys. 409 with too many classes, or "
                    + "with too many persons in the class.",
                headers: [.repeatableKey], answerHeaders: [.location], problems: [.conflict]),
            Route(.put, Self.own, right: .person, body: ClassChoice.self, answer: .ok(StudyClass.self)) { call in
                let command = ChooseClassPushes(
                    try call.identifier("classID"), newSessions: try await call.body().newSessions)
                return Answer(try await study.request(command, for: call))
            }.documented("Choose whether one is told of new sessions", "By a push when a session begins in the class."),
            Route(.delete, Self.own, right: .person, answer: .noContent) { call in
                _ = try await study.request(LeaveClass(call.identifier("classID")), for: call)
                return Answer()
            }.documented(
                "Leave a class",
                "A session of the class that one hosts ends, and one that one attends is left. Repeated, it changes nothing. 409 "
                    + "for the professor.",
                problems: [.conflict]),
        ]
    }

    private var classRoutes: [Route] {
        [
            Route(.post, "/class", right: .person, body: ClassDraft.self, answer: .created(StudyClass.self), add).documented(
                "Create a class",
                "For a person with the mark of professors, who is its professor. Without the mark in the device's token it is "
                    + "403. 409 with the `field` `identification_key` if another class has it, and without a field with too many "
                    + "classes.",
                headers: [.idempotencyKey], answerHeaders: [.location], problems: [.conflict]),
            Route(.get, Self.one, right: .person, answer: .ok(StudyClass.self)) { call in
                Answer(try await study.request(GetClass(call.identifier("classID")), for: call))
            }.documented("Read a class"),
            Route(.put, Self.one, right: .person, body: ClassEdit.self, answer: .ok(StudyClass.self)) { call in
                let command = UpdateClass(try call.identifier("classID"), try await call.body())
                return Answer(try await study.request(command, for: call))
            }.documented(
                "Change a class",
                "For its professor. What is absent stays as it is. `closed` ends its open sessions, and nobody joins it then. "
                    + "409 with the `field` `identification_key` if another class has it.",
                problems: [.conflict]),
            Route(
                .get, Self.one + "/classmates", right: .person, query: ClassmateQuery.self, answer: .ok(Classmates.self),
                classmates
            ).documented(
                "List the classmates whose names one sees",
                "Those who let classmates see their first or last name, and friends, in the order in which they came. "
                    + "Nobody else is in the list, so a page may be short or empty although more follow.",
                answerHeaders: [.nextPage]),
        ]
    }

    private func add(_ call: PersonCall<ClassDraft>) async throws -> Answer<StudyClass> {
        guard call.principal.claims.prof == true else {
            throw Problem(.forbidden, "Only professors create classes: a super user, or an access code, gives the mark.")
        }
        let command = AddClass(try await call.body(), requestKey: try call.request.idempotencyKey)
        return Self.made(try await study.request(command, for: call))
    }

    private static func made(_ group: StudyClass) -> Answer<StudyClass> {
        Answer(group, headers: [.location: "/classes/\(group.id)"])
    }

    /// The study service knows who is in the class, and the people service who shows what to whom.
    private func classmates(_ call: PersonCall<NoBody>, _ query: ClassmateQuery) async throws -> Answer<Classmates> {
        let id = try call.identifier("classID")
        let page = try await study.request(ListClassAccounts(id, limit: query.pageSize, after: query.after), for: call)
        let seen = try await people.requestUnlessStaff(ListClassmates(page.accounts), for: call)
        return Answer(
            Classmates(people: seen?.people ?? [], next: page.next),
            headers: call.link(to: "/classes/\(id)/classmates", limit: query.pageSize, after: page.next))
    }
}

/// A page of the answer of `GET /classes/:classID/classmates`.
struct Classmates: Codable, Sendable {
    let people: [PersonView]
    /// The `after` of the next page; absent on the last one.
    let next: String?
}
