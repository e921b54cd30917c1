import Base
import FoundationEssentials
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Each route of classes and study sessions: the command that it sends, in whose name, and its answer.
@Suite("Routes of study", .timeLimit(.minutes(10)))
struct StudyRoutesTests {
    typealias Expectation = PersonRoutesTests.Expectation

    private static let group = JSONValue.string("\(classID)")
    private static let meeting = JSONValue.string("\(session)")
    private static let classID = ObjectID()
    private static let session = ObjectID()
    private static let object = ObjectID()
    private static let one = "/classes/\(classID)"
    private static let of = "\(one)/sessions/\(session)"

    private static let classes: [Expectation] = [
        .init("GET", "/user/classes", nil, 200, "class.list"),
        .init(
            "POST", "/user/classes", #"{"key":"K7QF-2M9X"}"#, 201, "class.join", ["address": "127.0.0.1", "key": "K7QF-2M9X"]),
        .init(
            "PUT", "/user/classes/\(classID)", #"{"new_sessions":true}"#, 200, "class.choose",
            ["id": group, "new_sessions": true]),
        .init("DELETE", "/user/classes/\(classID)", nil, 204, "class.leave", ["id": group]),
        .init(
            "POST", "/class", #"{"name":"Heaps","identification_key":"CS1"}"#, 201, "class.add",
            ["draft": ["identification_key": "CS1", "name": "Heaps"], "request_key": "once"]),
        .init("GET", one, nil, 200, "class.get", ["id": group]),
        .init("PUT", one, #"{"closed":true}"#, 200, "class.update", ["edit": ["closed": true], "id": group]),
        .init("GET", "\(one)/classmates?after=x", nil, 200, "class.mates", ["after": "x", "id": group, "limit": 200]),
        .init("GET", "/study", nil, 200, "study.rules"),
    ]

    private static let keys: [Expectation] = [
        .init("GET", "\(one)/keys", nil, 200, "class_key.list", ["class": group]),
        .init(
            "POST", "\(one)/keys", #"{"role":"ta","uses":3}"#, 201, "class_key.add",
            ["class": group, "draft": ["role": "ta", "uses": 3], "request_key": "once"]),
        .init(
            "PUT", "\(one)/keys/\(object)", nil, 200, "class_key.replace", ["class": group, "id": .string("\(object)")]),
        .init(
            "DELETE", "\(one)/keys/\(object)", nil, 204, "class_key.remove", ["class": group, "id": .string("\(object)")]),
        .init("GET", "\(one)/roster?limit=7", nil, 200, "class_member.list", ["class": group, "limit": 7]),
        .init(
            "PUT", "\(one)/roster/b%6Fb", #"{"role":"ta"}"#, 200, "class_member.update",
            ["account": "bob", "class": group, "role": "ta"]),
        .init("DELETE", "\(one)/roster/bob", nil, 204, "class_member.remove", ["account": "bob", "class": group]),
    ]

    private static let position = #"{"latitude":51.5,"longitude":-0.25,"accuracy":12.5}"#
    private static let positionFields: JSONValue = ["accuracy": 12.5, "latitude": 51.5, "longitude": .number("-0.25")]
    private static let placeFields: JSONValue = ["latitude": 1.5, "longitude": 2.5, "name": "Hall"]
    private static let draft =
        #"{"topics":["Heaps"],"place":{"latitude":1.5,"longitude":2.5,"name":"Hall"},"minutes":60,"position":\#(position)}"#

    private static let sessions: [Expectation] = [
        .init("GET", "\(one)/sessions", nil, 200, "study_session.list", ["class": group]),
        .init(
            "POST", "\(one)/sessions", draft, 201, "study_session.add",
            [
                "class": group,
                "draft": ["minutes": 60, "place": placeFields, "position": positionFields, "topics": ["Heaps"]],
                "request_key": "once",
            ]),
        .init(
            "GET", "\(one)/sessions/past?from=1&until=2&topic=Heaps&limit=3&after=x", nil, 200, "study_session.history",
            ["after": "x", "class": group, "from": 1, "limit": 3, "topic": "Heaps", "until": 2]),
        .init("GET", of, nil, 200, "study_session.get", ["class": group, "id": meeting]),
        .init("POST", of, "", 200, "study_session.join", ["class": group, "id": meeting]),
        .init(
            "PUT", of, #"{"host":"bob"}"#, 200, "study_session.update",
            ["class": group, "edit": ["host": "bob"], "id": meeting]),
        .init("DELETE", of, nil, 204, "study_session.leave", ["class": group, "id": meeting]),
        .init("POST", "\(of)/end", "", 204, "study_session.end", ["class": group, "id": meeting]),
        .init(
            "POST", "\(of)/position", position, 200, "study_session.position",
            ["class": group, "id": meeting, "position": positionFields]),
        .init(
            "POST", "\(of)/invite", #"{"accounts":["bob","carl","BOB"]}"#, 200, "study_session.invite",
            ["accounts": ["bob"], "class": group, "id": meeting]),
        .init("GET", "/user/sessions", nil, 200, "study_session.own"),
        .init("GET", "/user/sessions/past?limit=9", nil, 200, "study_session.past", ["limit": 9]),
        .init(
            "POST", "/user/sessions/near", #"{"position":\#(position),"radius":800}"#, 200, "study_session.near",
            ["position": positionFields, "radius": 800]),
    ]

    private static let posts: [Expectation] = [
        .init(
            "GET", "\(of)/posts?limit=4&after=x", nil, 200, "study_post.list",
            ["after": "x", "class": group, "limit": 4, "session": meeting]),
        .init(
            "POST", "\(of)/posts", #"{"text":"here"}"#, 201, "study_post.add",
            ["class": group, "request_key": "once", "session": meeting, "text": "here"]),
        .init(
            "DELETE", "\(of)/posts", #"{"post":"\#(object)"}"#, 204, "study_post.remove",
            ["class": group, "id": .string("\(object)"), "session": meeting]),
        .init(
            "DELETE", "\(of)/posts/\(object)", nil, 204, "study_post.remove",
            ["class": group, "id": .string("\(object)"), "session": meeting]),
    ]

    private static let all = classes + keys + sessions + posts

    private let signer = TokenSigner()

    /// Runs a test with a gateway, and services that the test makes up. The person has the mark of professors.
    private func withGateway(_ body: (_ ann: RunningGateway, StudyDouble) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let (people, study) = (PeopleDouble(signer), StudyDouble())
            try await people.run(in: folder) {
                try await study.run(in: folder) {
                    try await RunningGateway.with(services: [], in: folder) { gateway in
                        let claims = DeviceTokenClaims(
                            account: .sample("ann"), device: ObjectID(), role: .student, professor: true, issued: .now)
                        let ann = gateway.with(token: try signer.token(claims).text)
                        try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                        try await body(ann, study)
                    }
                }
            }
        }
    }

    private func send(
        _ expected: Expectation, to gateway: RunningGateway, headers: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        let key = expected.method == "POST" ? ["Idempotency-Key": "once"] : [:]
        return try await gateway.request(
            expected.method, expected.target, headers: headers.merging(key) { $1 }, body: expected.body)
    }

    @Test("Every route of study is in this table, and sends its command, with the person of the token and nobody else")
    func commands() async throws {
        let declared = try await Features.alone { $0.routes.filter(\.isOfStudy) }
        #expect(declared.count == Self.all.count)
        try await withGateway { ann, study in
            for expected in Self.all {
                let answer = try await send(expected, to: ann)
                #expect(answer.status == expected.status, "\(expected.testDescription): \(answer)")
                let asked = try #require(study.asked.last)
                #expect(
                    asked.name == expected.command && asked.fields == expected.fields, "\(expected.testDescription): \(asked)")
                #expect(asked.actor == "ann" && asked.credential == nil, "\(expected.testDescription)")
            }
        }
    }

    @Test("A new object has its path in Location, and a list the path of its next page")
    func paths() async throws {
        try await withGateway { ann, _ in
            let id = StudyClass.example.id
            for (method, target, body, location) in [
                ("POST", "/user/classes", #"{"key":"K"}"#, "/classes/\(id)"),
                ("POST", "/class", #"{"name":"n","identification_key":"k"}"#, "/classes/\(id)"),
                ("POST", "\(Self.one)/keys", #"{"role":"student"}"#, "\(Self.one)/keys/\(ClassKey.example.id)"),
                ("POST", "\(Self.one)/sessions", Self.draft, "\(Self.one)/sessions/\(StudySession.example.id)"),
                ("POST", "\(Self.of)/posts", #"{"text":"t"}"#, "\(Self.of)/posts/\(SessionPost.example.id)"),
            ] {
                let answer = try await ann.request(method, target, body: body)
                #expect(answer.status == 201 && answer["location"] == location, "\(target): \(answer) \(answer.headers)")
            }
            for (target, link) in [
                ("/classmates", "classmates?limit=200&after=2-b"), ("/roster", "roster?limit=50&after=m%2B1"),
                ("/sessions/past?topic=a%2Bb&limit=2", "sessions/past?topic=a%2Bb&limit=2&after=p1"),
            ] {
                let answer = try await ann.request("GET", Self.one + target)
                #expect(answer["link"] == "<\(Self.one)/\(link)>; rel=\"next\"", "\(target): \(answer.headers)")
                #expect(answer.object["next"] is String)
            }
            let last = try await ann.request("GET", "/user/sessions/past")
            #expect(last["link"] == nil && last.object["next"] == nil)
        }
    }

    @Test("A failure of the study service has its status, its field and its detail")
    func failures() async throws {
        let failures: [(CommandFailure, Int, String)] = [
            (CommandFailure(.unauthenticated, "a reason"), 401, "unauthenticated"),
            (CommandFailure(.forbidden, "a reason", field: "sponsored"), 403, "forbidden"),
            (CommandFailure(.notFound, "a reason"), 404, "not-found"),
            (CommandFailure(.conflict, "a reason", field: "position"), 409, "conflict"),
            (CommandFailure(.internal, "a reason"), 500, "internal-error"),
            (CommandFailure(.unavailable, "a reason"), 503, "service-unavailable"),
            (CommandFailure(.storageFull, "a reason"), 507, "storage-full"),
        ]
        try await withGateway { ann, study in
            for expected in Self.all {
                for (failure, status, problem) in failures {
                    study.fail(expected.command, failure)
                    let answer = try await send(expected, to: ann)
                    #expect(answer.status == status && answer.problem == problem, "\(expected.testDescription): \(answer)")
                    #expect(answer.object["field"] as? String == failure.field, "\(expected.testDescription)")
                    #expect(answer.object["detail"] as? String == "a reason", "\(expected.testDescription)")
                }
                study.fail(expected.command, CommandFailure(.overloaded, "too many", retryAfter: Milliseconds(rawValue: 1_500)))
                let limited = try await send(expected, to: ann)
                #expect(limited.status == 429 && limited["retry-after"] == "2", "\(expected.testDescription): \(limited)")
                study.fail(expected.command, CommandFailure(.conflict, "another", field: "request_key"))
                let reused = try await send(expected, to: ann)
                #expect(
                    reused.status == 422 && reused.problem == "idempotency-key-reused"
                        && reused.object["field"] as? String == "Idempotency-Key", "\(expected.testDescription): \(reused)")
                study.fail(expected.command, nil)
            }
        }
    }

    @Test("Only who has the professor's mark in the token creates a class")
    func professors() async throws {
        try await withGateway { ann, study in
            let student = ann.with(token: try signer.token("ann").text)
            let count = study.asked.count
            let answer = try await student.request("POST", "/class", body: #"{"name":"n","identification_key":"k"}"#)
            #expect(answer.status == 403 && answer.problem == "forbidden" && study.asked.count == count, "\(answer)")
        }
    }
}
