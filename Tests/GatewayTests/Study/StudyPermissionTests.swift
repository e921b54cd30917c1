import Base
import Foundation
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// The permissions matrix of classes: each route for each role in the class, and for those who have none; for what is one's own,
/// and for what is another's.
@Suite("Permissions in classes", .timeLimit(.minutes(10)))
struct StudyPermissionTests {
    /// What a request is about.
    private struct Request {
        var parameters: [String: String] = [:]
        var body: JSONValue?
    }

    /// The routes that were checked, as `GET /classes/:classID`.
    private typealias Routes = Set<String>

    private static let one = "/classes/:classID"
    private static let session = one + "/sessions/:sessionID"

    @Test("Each route of a class admits the roles of the matrix, refuses the others, and does not exist for anybody else")
    func matrix() async throws {
        let declared = try await Features.alone { $0.routes.filter { $0.isOfStudy && $0.pathParameters.contains("classID") } }
        try await StudyWorld.with { world in
            var checked: Routes = []
            try await classes(world, &checked)
            try await persons(world, &checked)
            try await sessions(world, &checked)
            try await othersSessions(world, &checked)
            try await posts(world, &checked)
            try await leaving(world, &checked)
            #expect(Set(declared.map { "\($0.method.rawValue) \($0.path)" }) == checked)
        }
    }

    /// Sends a request as each caller.
    ///
    /// - Parameters:
    ///   - status: For those who may do it.
    ///   - others: For those who are not in the class.
    ///   - roles: The roles that are left out.
    ///   - prepare: Makes what a caller's request is about.
    private func check(
        _ method: String, _ path: String, _ action: ClassAction, _ status: Int, others: Int = 404,
        except roles: Set<ClassRole> = [], in world: StudyWorld, _ checked: inout Routes,
        _ prepare: (StudyWorld.Caller) async throws -> Request
    ) async throws {
        checked.insert("\(method) \(path)")
        for caller in world.callers where caller.role.map({ !roles.contains($0) }) ?? true {
            let request = try await prepare(caller)
            let target = request.parameters.reduce(path.replacing(":classID", with: "\(world.classID)")) {
                $0.replacing(":\($1.key)", with: $1.value)
            }
            let answer = try await caller.device.request(method, target, body: request.body)
            let expected = caller.role.map { action.isAllowed(to: $0) ? status : 403 } ?? others
            #expect(answer.status == expected, "\(action) as \(caller): \(method) \(target): \(answer)")
            guard caller.role == nil, expected == 404 else { continue }
            #expect(answer.problem == "not-found" && !answer.text.contains("Structures"), "\(action) as \(caller): \(answer)")
        }
    }

    /// The same with a body.
    private func check(
        _ method: String, _ path: String, _ action: ClassAction, _ status: Int, in world: StudyWorld, _ checked: inout Routes,
        body: JSONValue? = nil
    ) async throws {
        try await check(method, path, action, status, in: world, &checked) { _ in Request(body: body) }
    }

    private func classes(_ world: StudyWorld, _ checked: inout Routes) async throws {
        let (one, keys) = (Self.one, Self.one + "/keys")
        try await check("GET", one, .readClass, 200, in: world, &checked)
        try await check("PUT", one, .changeClass, 200, in: world, &checked, body: ["description": "d"])
        try await check(
            "PUT", "/user/classes/:classID", .chooseNewSessionPushes, 200, in: world, &checked, body: ["new_sessions": true])
        try await check("GET", keys, .manageKeys, 200, in: world, &checked)
        try await check("POST", keys, .manageKeys, 201, in: world, &checked, body: ["role": "student"])
        for (method, status) in [("PUT", 200), ("DELETE", 204)] {
            try await check(method, keys + "/:keyID", .manageKeys, status, in: world, &checked) { _ in
                let key = try await world.professor.expect(201, "POST", world.path("/keys"), ["role": "ta"])
                return Request(parameters: ["keyID": try #require(key.object["id"] as? String)])
            }
        }
    }

    private func persons(_ world: StudyWorld, _ checked: inout Routes) async throws {
        let roster = Self.one + "/roster"
        try await check("GET", roster, .readRoster, 200, in: world, &checked)
        try await check("PUT", roster + "/:account", .changeRoster, 200, in: world, &checked) { _ in
            Request(parameters: ["account": "second"], body: ["role": "student"])
        }
        // Nobody of this name is in the class, which is no error for the professor.
        try await check("DELETE", roster + "/:account", .changeRoster, 204, in: world, &checked) { _ in
            Request(parameters: ["account": "stranger"])
        }
        try await check("GET", Self.one + "/classmates", .readClassmates, 200, in: world, &checked)
    }

    private func sessions(_ world: StudyWorld, _ checked: inout Routes) async throws {
        let (all, one) = (Self.one + "/sessions", Self.session)
        /// The caller's own session, or for who has none another's.
        func own(_ caller: StudyWorld.Caller, body: JSONValue? = nil) async throws -> Request {
            let host = caller.role == nil ? world.student : caller.device
            return Request(parameters: ["sessionID": try await world.session(of: host)], body: body)
        }
        try await check("GET", all, .readSessions, 200, in: world, &checked)
        try await check("GET", all + "/past", .readHistory, 200, in: world, &checked)
        try await check("POST", all, .startSession, 201, in: world, &checked, body: StudyWorld.draft)
        try await check("POST", all, .sponsorSession, 201, in: world, &checked, body: StudyWorld.sponsored)
        try await check("GET", one, .readSessions, 200, in: world, &checked) { try await own($0) }
        try await check("PUT", one, .changeOwnSession, 200, in: world, &checked) { try await own($0, body: ["topics": ["a"]]) }
        try await check("PUT", one, .handOverOwnSession, 200, in: world, &checked) { caller in
            let request = try await own(caller, body: ["host": .string(world.assistant.account)])
            let session = try #require(request.parameters["sessionID"])
            try await world.assistant.expect(200, "POST", world.path("/sessions/\(session)"), ["leave": true])
            return request
        }
        try await check("POST", one + "/position", .reportPosition, 200, in: world, &checked) {
            try await own($0, body: StudyWorld.position)
        }
        try await check("POST", one + "/invite", .inviteToSession, 200, in: world, &checked) {
            try await own($0, body: ["accounts": ["second"]])
        }
        try await check("DELETE", one, .endOwnSession, 204, in: world, &checked) { try await own($0) }
    }

    private func othersSessions(_ world: StudyWorld, _ checked: inout Routes) async throws {
        let one = Self.session
        func session(of host: DeviceSession, body: JSONValue? = nil) async throws -> Request {
            Request(parameters: ["sessionID": try await world.session(of: host)], body: body)
        }
        try await check("POST", one, .joinSession, 200, in: world, &checked) { _ in
            try await session(of: world.student, body: ["leave": true])
        }
        // Who leaves a session in which they are not changes nothing.
        try await check("DELETE", one, .joinSession, 204, in: world, &checked) { _ in try await session(of: world.student) }
        for host in [world.student, world.assistant, world.professor] {
            let roles: Set<ClassRole> = host.account == world.professor.account ? [.professor] : []
            let requests: [(String, String, JSONValue)] = [
                ("PUT", one, ["topics": ["b"]]), ("POST", one + "/position", StudyWorld.position),
                ("POST", one + "/invite", ["accounts": ["second"]]),
            ]
            for (method, path, body) in requests {
                try await check(method, path, .changeOthersSession, 200, except: roles, in: world, &checked) { _ in
                    try await session(of: host, body: body)
                }
            }
        }
        let ends: [(DeviceSession, ClassAction, Set<ClassRole>)] = [
            (world.student, .endStudentsSession, []), (world.assistant, .endAssistantsSession, []),
            (world.professor, .endProfessorsSession, [.professor]),
        ]
        for (host, action, roles) in ends {
            try await check("POST", one + "/end", action, 204, except: roles, in: world, &checked) { _ in
                try await session(of: host)
            }
        }
    }

    private func posts(_ world: StudyWorld, _ checked: inout Routes) async throws {
        let all = Self.session + "/posts"
        let session = try await world.session(of: world.student)
        func request(_ more: [String: String] = [:], body: JSONValue? = nil) -> Request {
            Request(parameters: ["sessionID": session].merging(more) { $1 }, body: body)
        }
        try await check("GET", all, .readPosts, 200, in: world, &checked) { _ in request() }
        try await check("POST", all, .post, 201, in: world, &checked) { _ in request(body: ["text": "t"]) }
        let authors: [(DeviceSession?, ClassAction)] = [
            (nil, .removeOwnPost), (world.student, .removeStudentsPost), (world.assistant, .removeAssistantsPost),
            (world.professor, .removeProfessorsPost),
        ]
        for (author, action) in authors {
            for path in [all, all + "/:postID"] {
                try await check("DELETE", path, action, 204, in: world, &checked) { caller in
                    let author = author ?? (caller.role == nil ? world.student : caller.device)
                    let post = try await author.post("t", to: session, of: world.classID)
                    return path == all ? request(body: ["post": .string(post)]) : request(["postID": post])
                }
            }
        }
    }

    private func leaving(_ world: StudyWorld, _ checked: inout Routes) async throws {
        let path = "/user/classes/:classID"
        // Who is in it no longer has left it.
        try await check(
            "DELETE", path, .leaveClass, 204, others: 204, except: [.professor], in: world, &checked
        ) { _ in Request() }
        let refused = try await world.professor.expect(409, "DELETE", "/user/classes/\(world.classID)")
        #expect(refused.problem == "conflict")
    }

    @Test("Only the professor sees removed posts, with who has removed them and when")
    func removedPosts() async throws {
        try await StudyWorld.with { world in
            let session = try await world.session(of: world.student)
            let post = try await world.student.post("Nonsense", to: session, of: world.classID)
            let path = world.path("/sessions/\(session)/posts")
            try await world.assistant.expect(204, "DELETE", path + "/\(post)")
            for caller in world.callers where caller.role != nil {
                let answer = try await caller.device.expect(200, "GET", path)
                let posts = try answer.json["posts"]?.array ?? []
                guard caller.role == .professor else {
                    #expect(posts.isEmpty && !answer.text.contains("Nonsense"), "\(caller): \(answer)")
                    continue
                }
                #expect(posts.count == 1 && posts[0]["text"] == "Nonsense", "\(answer)")
                let removed = posts[0]["removed"]
                #expect(removed?["by"]?.string == world.assistant.account && removed?["at"]?.integer != nil, "\(answer)")
            }
        }
    }

    @Test("The table of API.md is the matrix")
    func document() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "Services/Gateway/API.md"), encoding: .utf8)
        let section = try #require(text.firstMatch(of: #/\n### Who may do what in a class\n(?s)(.*?)\n###? /#)).1
        var found: [ClassAction: Set<ClassRole>] = [:]
        for row in section.split(separator: "\n") where row.contains("`") && row.hasPrefix("|") {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count == 7 else { continue }
            let roles = zip([ClassRole.student, .assistant, .professor], cells[3...5]).filter { $1 == "✓" }.map(\.0)
            for name in cells[2].matches(of: /`(\w+)`/) {
                let action = try #require(ClassAction(rawValue: String(name.1)), "\(name.1) is no action")
                let earlier = found.updateValue(Set(roles), forKey: action)
                #expect(earlier == nil, "\(action) is there twice")
            }
        }
        #expect(found == Dictionary(uniqueKeysWithValues: ClassAction.allCases.map { ($0, $0.roles) }))
    }
}
