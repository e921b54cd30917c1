import Base
import Bus
import HTTPTypes
import Hummingbird
import Schemas

/// The persons of a class, for its staff.
struct RosterRoutes: Feature {
    let study: CommandClient

    private static let all = ClassRoutes.one + "/roster"
    private static let one = all + "/:account"
    private static let path: [String: any Route.Document.Type] = ["account": AccountName.self]

    var section: APISection {
        APISection(
            "Rosters of classes",
            "Who is in a class, for its professor and its teaching assistants. `number` takes the place of a person's name in "
                + "the history once the class keeps names no longer.")
    }

    var routes: [Route] {
        [
            Route(
                .get, Self.all, right: .person, query: StudyPageQuery.self, answer: .ok(ListClassMembers.Reply.self), list
            ).documented(
                "List the persons of a class", "In the order of their accounts' names.", answerHeaders: [.nextPage]),
            Route(.put, Self.one, right: .person, body: ClassRoleChange.self, answer: .ok(ClassMember.self)) { call in
                let (account, classID) = (try call.account(), try call.identifier("classID"))
                let command = ChangeClassRole(of: account, in: classID, to: try await call.body().role)
                return Answer(try await study.request(command, for: call))
            }.documented(
                "Change a person's role in a class",
                "For the professor: `student` or `ta`. 409 for the professor's own role.", path: Self.path,
                problems: [.conflict]),
            Route(.delete, Self.one, right: .person, answer: .noContent) { call in
                let command = RemoveClassMember(try call.account(), from: try call.identifier("classID"))
                _ = try await study.request(command, for: call)
                return Answer()
            }.documented(
                "Remove a person from a class",
                "For the professor. Repeated, it changes nothing. 409 for the professor.", path: Self.path,
                problems: [.conflict]),
        ]
    }

    private func list(_ call: PersonCall<NoBody>, _ query: StudyPageQuery) async throws -> Answer<ListClassMembers.Reply> {
        let classID = try call.identifier("classID")
        let command = ListClassMembers(of: classID, limit: query.pageSize, after: query.after)
        let page = try await study.request(command, for: call)
        return Answer(
            page, headers: call.link(to: "/classes/\(classID)/roster", limit: query.pageSize, after: page.next))
    }
}
