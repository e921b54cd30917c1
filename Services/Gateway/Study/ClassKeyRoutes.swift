import Base
import Bus
import HTTPTypes
import Hummingbird
import NIOCore
import Schemas

/// The keys with which people join a class.
struct ClassKeyRoutes: Feature {
    let study: CommandClient

    private static let all = ClassRoutes.one + "/keys"
    private static let one = all + "/:keyID"

    var section: APISection {
        APISection(
            "Keys of classes",
            "Codes for a hall: who types one joins the class as a student, or as a teaching assistant. They are for the class's "
                + "professor, and can be shown again at any time.")
    }

    var routes: [Route] {
        [
            Route(.get, Self.all, right: .person, answer: .ok(ListClassKeys.Reply.self), list).documented(
                "List the keys of a class",
                "Those that have neither expired nor been revoked, the newest first, with their codes."),
            Route(.post, Self.all, right: .person, body: ClassKeyDraft.self, answer: .created(ClassKey.self), add).documented(
                "Make a key of a class", "409 if the class has \(StudyLimits.maxKeys) already.",
                headers: [.idempotencyKey], answerHeaders: [.location], problems: [.conflict]),
            Route(.put, Self.one, right: .person, answer: .ok(ClassKey.self)) { call in
                let command = ReplaceClassKey(try call.identifier("keyID"), of: try call.identifier("classID"))
                return Answer(try await study.request(command, for: call))
            }.documented(
                "Replace a key of a class",
                "By another code with the same role and limits; its uses are counted from 0. The code before is worth nothing "
                    + "from then on. Who has joined with it stays."),
            Route(.delete, Self.one, right: .person, answer: .noContent) { call in
                let command = RemoveClassKey(try call.identifier("keyID"), of: try call.identifier("classID"))
                _ = try await study.request(command, for: call)
                return Answer()
            }.documented("Revoke a key of a class", "Who has joined with it stays."),
        ]
    }

    /// The answer has codes, and so it is not compressed (``AnswerCoding``).
    private func list(_ call: PersonCall<NoBody>) async throws -> Answer<ListClassKeys.Reply> {
        let keys = try await study.request(ListClassKeys(of: call.identifier("classID")), for: call)
        let json = ByteBuffer(bytes: try JSONCoder.encode(keys))
        return Answer(body: .pieces(of: json, on: call.context.channel), headers: [.contentType: "application/json"])
    }

    private func add(_ call: PersonCall<ClassKeyDraft>) async throws -> Answer<ClassKey> {
        let classID = try call.identifier("classID")
        let command = AddClassKey(to: classID, try await call.body(), requestKey: try call.request.idempotencyKey)
        let key = try await study.request(command, for: call)
        return Answer(key, headers: [.location: "/classes/\(classID)/keys/\(key.id)"])
    }
}
