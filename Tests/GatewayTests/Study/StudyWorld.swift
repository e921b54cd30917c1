import Base
import Schemas
import TestSupport
import Testing

@testable import Gateway
@testable import ServiceKit

/// A class with persons in each role, and others who have nothing to do with it. The study service is the real one.
struct StudyWorld: Sendable {
    /// One who makes requests.
    struct Caller: Sendable, CustomStringConvertible {
        let description: String
        let device: DeviceSession
        /// In the class; `nil` for those who are not in it.
        let role: ClassRole?
    }

    let gateway: RunningGateway
    let classID: ObjectID
    /// A class of another professor.
    let otherClass: ObjectID
    /// One in each role, the professor of the other class, one who has left the class, and one who was never in any.
    let callers: [Caller]
    /// Further persons of the class.
    let student: DeviceSession
    let assistant: DeviceSession
    let professor: DeviceSession

    /// Where the sessions are, and where everybody is.
    static let place: JSONValue = ["latitude": 51.5, "longitude": .number("-0.125"), "name": "Hall"]
    static let position: JSONValue = ["latitude": 51.5001, "longitude": .number("-0.125"), "accuracy": 10]
    static let draft: JSONValue = [
        "topics": ["Heaps"], "place": place, "minutes": 60, "position": position, "leave": true,
    ]
    static let sponsored: JSONValue = [
        "topics": ["Sorting"], "place": place, "minutes": 60, "sponsored": true, "attends": false,
    ]

    /// - Parameter prefix: The beginning of all names.
    init(at gateway: RunningGateway, prefix: String = "") async throws {
        let professor = try await gateway.professor(prefix + "prof")
        let classID = try await professor.makeClass(prefix + "Structures")
        let student = try await gateway.student(prefix + "second")
        let assistant = try await gateway.student(prefix + "secondta")
        let (first, firstAssistant) = (try await gateway.student(prefix + "ann"), try await gateway.student(prefix + "ta"))
        let gone = try await gateway.student(prefix + "gone")
        let other = try await gateway.professor(prefix + "other")
        for person in [student, first, gone] { try await person.join(classID, by: professor) }
        for person in [assistant, firstAssistant] { try await person.join(classID, by: professor, as: "ta") }
        try await gone.expect(204, "DELETE", "/user/classes/\(classID)")
        otherClass = try await other.makeClass(prefix + "Analysis")
        callers = [
            Caller(description: "student", device: first, role: .student),
            Caller(description: "assistant", device: firstAssistant, role: .assistant),
            Caller(description: "professor", device: professor, role: .professor),
            Caller(description: "professor of another class", device: other, role: nil),
            Caller(description: "left", device: gone, role: nil),
            Caller(description: "nobody", device: try await gateway.student(prefix + "nobody"), role: nil),
        ]
        (self.gateway, self.classID) = (gateway, classID)
        (self.student, self.assistant, self.professor) = (student, assistant, professor)
    }

    /// Runs a test with a gateway, all services behind it, and a class.
    static func with(_ body: (StudyWorld) async throws -> Void) async throws {
        try await RunningGateway.withStudy { gateway in try await body(StudyWorld(at: gateway)) }
    }

    /// The session of the class that a person hosts and attends. Only if there is none a new one begins, since a person begins few
    /// within a minute.
    ///
    /// - Returns: Its id.
    func session(of host: DeviceSession) async throws -> String {
        let current = try await host.expect(200, "GET", "/user/sessions").json["current"]
        if let current, current["host"]?.string == host.account, let id = current["id"]?.string { return id }
        return try await host.start(in: classID)
    }

    /// A path below the class.
    func path(_ rest: String) -> String { "/classes/\(classID)\(rest)" }
}

extension RunningGateway {
    /// As ``with(services:database:people:in:settings:isolation:_:)``, with the study service as well.
    ///
    /// - Parameters:
    ///   - people: Settings of the people service alone.
    ///   - study: Settings of the study service alone. By default a person may post as often as a test does.
    static func withStudy<Result>(
        people: [String: String] = [:], study: [String: String] = ["MSI_STUDY_POSTS_PER_MINUTE": "600"],
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningGateway) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            let services = ServiceEntry.gateway.startDependencies.map(\.executable)
            return try await withServices(services[...], people: people, in: folder) {
                try await withService(ServiceEntry.study.executable, in: folder, settings: study) { _ in
                    try await with(services: [], in: folder, body)
                }
            }
        }
    }

    /// A person with the mark of professors, signed in on a device whose token has it.
    func professor(_ account: String) async throws -> DeviceSession {
        let person = try await student(account)
        let marked = try await request("PUT", "/account/\(account)", body: #"{"professor":true}"#)
        #expect(marked.status == 200, "\(marked)")
        return try await person.refreshed()
    }
}

extension DeviceSession {
    /// A request whose answer must have a status.
    @discardableResult
    func expect(_ status: Int, _ method: String, _ target: String, _ body: JSONValue? = nil) async throws -> HTTPAnswer {
        let answer = try await request(method, target, body: body)
        #expect(answer.status == status, "\(account): \(method) \(target): \(answer)")
        return answer
    }

    /// Makes a class, whose professor the person is.
    func makeClass(_ name: String) async throws -> ObjectID {
        let made = try await expect(201, "POST", "/class", ["name": .string(name), "identification_key": .string(name)])
        return try #require((made.object["id"] as? String).flatMap { ObjectID($0) })
    }

    /// Joins a class with a new key of its professor.
    func join(_ classID: ObjectID, by professor: DeviceSession, as role: String = "student") async throws {
        let key = try await professor.expect(201, "POST", "/classes/\(classID)/keys", ["role": .string(role), "uses": 1])
        let code = try #require(key.object["code"] as? String)
        try await expect(201, "POST", "/user/classes", ["key": .string(code)])
        let id = try #require(key.object["id"] as? String)
        // A class has few keys.
        try await professor.expect(204, "DELETE", "/classes/\(classID)/keys/\(id)")
    }

    /// Starts a session, whose host the person is.
    ///
    /// - Returns: Its id.
    func start(in classID: ObjectID, _ draft: JSONValue = StudyWorld.draft) async throws -> String {
        let answer = try await expect(201, "POST", "/classes/\(classID)/sessions", draft)
        return try #require(try answer.json["session"]?["id"]?.string, "\(answer)")
    }

    /// Posts to a session.
    ///
    /// - Returns: The id of the post.
    func post(_ text: String, to session: String, of classID: ObjectID) async throws -> String {
        let answer = try await expect(201, "POST", "/classes/\(classID)/sessions/\(session)/posts", ["text": .string(text)])
        return try #require(answer.object["id"] as? String)
    }
}
