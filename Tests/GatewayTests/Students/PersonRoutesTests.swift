import Base
import FoundationEssentials
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Each route of persons: the command that it sends, in whose name, and its answer.
@Suite("Routes of persons", .timeLimit(.minutes(10)))
struct PersonRoutesTests {
    private static let device = ObjectID()
    private static let code = ObjectID()
    private static let credential = #"{"provider":"google","id_token":"a.b.c"}"#
    private static let signIn = #""credential":\#(credential),"device":{"key":"BK","platform":"web"},"nonce":"n","proof":"p""#

    /// A request, and what it comes to.
    struct Expectation: Sendable, CustomTestStringConvertible {
        let method: String
        let target: String
        let body: String?
        let status: Int
        let command: String
        let fields: JSONValue

        init(
            _ method: String, _ target: String, _ body: String?, _ status: Int, _ command: String, _ fields: JSONValue = [:]
        ) {
            self.method = method
            self.target = target
            self.body = body
            self.status = status
            self.command = command
            self.fields = fields
        }

        var testDescription: String { "\(method) \(target)" }
    }

    /// The routes that need no token. The address is that of the test.
    private static let open: [Expectation] = [
        .init("GET", "/user/providers", nil, 200, "provider.list"),
        .init(
            "POST", "/user/providers/university/flow", "", 201, "sign_in.oidc.begin", ["redirect": "http://127.0.0.1/app/"]),
        .init("GET", "/user/challenge", nil, 200, "device.challenge"),
        .init(
            "PUT", "/user", "{\(signIn)}", 200, "device.begin",
            [
                "address": "127.0.0.1", "credential": ["id_token": "a.b.c", "provider": "google"],
                "device": ["key": "BK", "platform": "web"], "nonce": "n", "proof": "p",
            ]),
        .init(
            "POST", "/user", #"{"account":"ann",\#(signIn),"access_code":"K7QF"}"#, 201, "person.add",
            [
                "access_code": "K7QF", "account": "ann", "address": "127.0.0.1",
                "credential": ["id_token": "a.b.c", "provider": "google"], "device": ["key": "BK", "platform": "web"],
                "idempotency_key": "once", "nonce": "n", "proof": "p",
            ]),
        .init(
            "POST", "/user/token", #"{"device":"\#(device)","nonce":"n","proof":"p"}"#, 200, "device.token",
            ["device": .string("\(device)"), "nonce": "n", "proof": "p"]),
    ]

    /// The routes that need the token of ann's device.
    private static let own: [Expectation] = [
        .init("GET", "/user", nil, 200, "person.get"),
        .init(
            "POST", "/user/identities", credential, 201, "person.link",
            [
                "address": "127.0.0.1", "credential": ["id_token": "a.b.c", "provider": "google"],
                "device": .string("\(device)"),
            ]),
        .init("DELETE", "/user/identities/google", nil, 200, "person.unlink", ["provider": "google"]),
        .init(
            "PUT", "/user/password", #"{"current":"a","password":"violet-anchor-meadow"}"#, 204, "person.password",
            [
                "address": "127.0.0.1", "current": "a", "device": .string("\(device)"), "password": "violet-anchor-meadow",
            ]),
        .init(
            "POST", "/user/access-code", #"{"code":"K7QF"}"#, 200, "access_code.use", ["address": "127.0.0.1", "code": "K7QF"]),
        .init("GET", "/user/devices", nil, 200, "device.list", ["account": "ann"]),
        .init(
            "PUT", "/user/devices/\(device)", #"{"fcm_token":"f","language":"ar"}"#, 200, "device.register",
            [
                "account": "ann", "device": .string("\(device)"), "registration": ["fcm_token": "f", "language": "ar"],
            ]),
        .init("GET", "/user/profile", nil, 200, "profile.get"),
        .init(
            "PUT", "/user/profile", #"{"bio":"b","visibility":{"bio":"friends"}}"#, 200, "profile.set",
            ["profile": ["bio": "b", "visibility": ["bio": "friends"]]]),
        .init("GET", "/users/b%6Fb", nil, 200, "person.view", ["account": "bob"]),
        .init("GET", "/users?q=bob", nil, 200, "person.search", ["text": "bob"]),
        .init("GET", "/user/preferences", nil, 200, "preference.get"),
        .init(
            "PUT", "/user/preferences", #"{"pushes":{"friend_request":false}}"#, 200, "preference.set",
            ["preferences": ["pushes": ["friend_request": false]]]),
        .init("GET", "/user/friends", nil, 200, "friend.list"),
        .init(
            "POST", "/user/friends", #"{"account":"bob"}"#, 200, "friend.ask",
            ["account": "bob", "device": .string("\(device)")]),
        .init("GET", "/user/friends/requests", nil, 200, "friend.requests"),
        .init("PUT", "/user/friends/bob", #"{"accept":true}"#, 204, "friend.answer", ["accept": true, "account": "bob"]),
        .init("DELETE", "/user/friends/bob", nil, 204, "friend.remove", ["account": "bob"]),
        .init("GET", "/user/blocked", nil, 200, "friend.blocked"),
        .init("PUT", "/user/blocked/bob", nil, 204, "friend.block", ["account": "bob", "blocked": true]),
        .init("DELETE", "/user/blocked/bob", nil, 204, "friend.block", ["account": "bob", "blocked": false]),
    ]
    /// It ends the token of the others.
    private static let last = Expectation(
        "DELETE", "/user/devices/\(device)", nil, 204, "device.end", ["account": "ann", "device": .string("\(device)")])
    /// Those that other tests have: the stream, the export and the erasure.
    private static let others: Set = ["GET /user/events", "GET /user/export", "POST /user/erasure"]

    private let signer = TokenSigner()

    /// Runs a test with a gateway, the cube, and a people service that the test makes up.
    private func withGateway(
        settings: [String: String] = [:], _ body: (RunningGateway, _ ann: RunningGateway, PeopleDouble) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let people = PeopleDouble(signer)
            let channel = Channel(id: ObjectID(), name: "Campus", desc: "", access: ["carl"], areas: [])
            try await storeCube([channel], version: 1, in: folder)
            try await people.run(in: folder) {
                try await RunningGateway.with(services: ["msi-cube"], in: folder, settings: settings) { gateway in
                    let ann = gateway.with(token: try signer.token("ann", Self.device).text)
                    try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                    try await body(gateway.with(token: nil), ann, people)
                }
            }
        }
    }

    private func send(_ expected: Expectation, to gateway: RunningGateway) async throws -> HTTPAnswer {
        let headers = expected.method == "POST" ? ["Idempotency-Key": "once"] : [:]
        return try await gateway.request(expected.method, expected.target, headers: headers, body: expected.body)
    }

    @Test("Every route of persons is in this table, and sends its command, with the person of the token and nobody else")
    func commands() async throws {
        let declared = try await Features.alone { features in
            // `StudyRoutesTests` has the routes of study.
            features.routes.filter { ($0.right == .person || $0.path.hasPrefix("/user")) && !$0.isOfStudy }
        }
        #expect(
            declared.filter { !Self.others.contains("\($0.method) \($0.path)") }.count == Self.open.count + Self.own.count + 1)
        try await withGateway { gateway, ann, people in
            for expected in Self.open + Self.own + [Self.last] {
                let isOpen = Self.open.contains { $0.testDescription == expected.testDescription }
                let answer = try await send(expected, to: isOpen ? gateway : ann)
                #expect(answer.status == expected.status, "\(expected.testDescription): \(answer)")
                let asked = try #require(people.asked.last)
                #expect(asked.name == expected.command && asked.fields == expected.fields, "\(asked)")
                #expect(asked.actor == (isOpen ? nil : "ann"), "\(expected.testDescription)")
            }
        }
    }

    @Test("A failure of the people service has its status, its field and its detail")
    func failures() async throws {
        let failures: [(CommandFailure, Int, String)] = [
            (CommandFailure(.unauthenticated, "a reason", field: "nonce"), 401, "unauthenticated"),
            (CommandFailure(.forbidden, "a reason", field: "access_code"), 403, "forbidden"),
            (CommandFailure(.notFound, "a reason"), 404, "not-found"),
            (CommandFailure(.conflict, "a reason", field: "account"), 409, "conflict"),
            (CommandFailure(.internal, "a reason"), 500, "internal-error"),
            (CommandFailure(.unavailable, "a reason"), 503, "service-unavailable"),
            (CommandFailure(.storageFull, "a reason"), 507, "storage-full"),
        ]
        try await withGateway { gateway, ann, people in
            for expected in Self.open + Self.own {
                let isOpen = Self.open.contains { $0.testDescription == expected.testDescription }
                for (failure, status, problem) in failures {
                    people.fail(expected.command, failure)
                    let answer = try await send(expected, to: isOpen ? gateway : ann)
                    #expect(answer.status == status && answer.problem == problem, "\(expected.testDescription): \(answer)")
                    #expect(answer.object["field"] as? String == failure.field)
                    #expect(answer.object["detail"] as? String == "a reason")
                }
                people.fail(expected.command, nil)
            }
        }
    }

    @Test("What the people service limits is 429 with the time to wait")
    func limits() async throws {
        try await withGateway { gateway, ann, people in
            let failure = CommandFailure(.overloaded, "too many", retryAfter: Milliseconds(rawValue: 1_500))
            let limited = ["device.begin", "device.token", "person.add", "person.link", "person.password", "access_code.use"]
            for expected in Self.open + Self.own
            where (limited + ["person.view", "person.search", "friend.ask", "friend.block"]).contains(expected.command) {
                people.fail(expected.command, failure)
                let isOpen = Self.open.contains { $0.testDescription == expected.testDescription }
                let answer = try await send(expected, to: isOpen ? gateway : ann)
                #expect(answer.status == 429 && answer["retry-after"] == "2", "\(expected.testDescription): \(answer)")
            }
        }
    }

    @Test("After too many requests of an account each of its routes is 429 with the time to wait, and nothing is asked")
    func accountLimit() async throws {
        try await withGateway(settings: ["MSI_GATEWAY_ACCOUNT_REQUESTS": "1"]) { _, ann, people in
            // The wait for the keys has made the one request of this minute.
            let count = people.asked.count
            for expected in Self.own {
                let answer = try await send(expected, to: ann)
                #expect(answer.status == 429 && answer.problem == "too-many-requests", "\(expected.testDescription): \(answer)")
                #expect(answer["retry-after"] != nil, "\(expected.testDescription)")
            }
            #expect(people.asked.count == count)
        }
    }

    @Test("Bodies, names and queries that cannot be right are refused before the people service is asked")
    func invalid() async throws {
        try await withGateway { gateway, ann, people in
            let count = people.asked.count
            for (method, target, body, field) in [
                ("PUT", "/user", "{\(Self.signIn),\"more\":1}" as String?, "more"),
                (
                    "PUT", "/user",
                    #"{"credential":{"provider":"google"},"device":{"key":"k","platform":"web"},"nonce":"n","proof":"p"}"#,
                    "credential.id_token"
                ),
                (
                    "PUT", "/user",
                    #"{"credential":\#(Self.credential),"device":{"key":"k","platform":"tv"},"nonce":"n","proof":"p"}"#,
                    "device.platform"
                ),
                ("POST", "/user", #"{"account":"an",\#(Self.signIn)}"#, "account"),
                ("POST", "/user", #"{"account":"ann@example.edu",\#(Self.signIn)}"#, "account"),
                ("POST", "/user", #"{"account":"-ann",\#(Self.signIn)}"#, "account"),
                ("POST", "/user/token", #"{"device":"x","nonce":"n","proof":"p"}"#, "device"),
                ("DELETE", "/user/identities/orcid", nil, "provider"), ("GET", "/users?q=an", nil, "q"),
                ("GET", "/users", nil, "q"),
                ("GET", "/users?q=ann&limit=9", nil, "limit"), ("GET", "/users/b%20b", nil, "id"),
                ("PUT", "/user/profile", #"{"bio":"\#(String(repeating: "b", count: 101))","visibility":{}}"#, "bio"),
                ("PUT", "/user/profile", #"{"born":"2003-02-29","visibility":{}}"#, "born"),
                ("PUT", "/user/preferences", #"{"pushes":{"No kind":true}}"#, "pushes"),
                ("PUT", "/user/devices/\(Self.device)", #"{"fcm_token":"f","subscription":"\#(ObjectID())"}"#, "subscription"),
                ("PUT", "/user/password", #"{"current":"a","password":"password"}"#, "password"),
                ("PUT", "/user/friends/bob", #"{}"#, "accept"),
            ] {
                let isOpen = target.hasPrefix("/user/token") || target == "/user"
                let answer = try await (isOpen ? gateway : ann).request(method, target, body: body)
                #expect(answer.status == 400 && answer.object["field"] as? String == field, "\(method) \(target): \(answer)")
            }
            for target in ["/user", "/user/token", "/user/friends", "/user/identities", "/user/access-code"] {
                let long = ["Idempotency-Key": String(repeating: "k", count: 256)]
                let isOpen = ["/user", "/user/token"].contains(target)
                let answer = try await (isOpen ? gateway : ann).request("POST", target, headers: long, body: "{}")
                #expect(answer.object["field"] as? String == "Idempotency-Key", "\(target): \(answer)")
            }
            #expect(people.asked.count == count)
        }
    }

    @Test("A device registers only itself")
    func otherDevice() async throws {
        try await withGateway { _, ann, people in
            let count = people.asked.count
            let answer = try await ann.request("PUT", "/user/devices/\(ObjectID())", body: "{}")
            #expect(answer.status == 403 && answer.object["field"] as? String == "id" && people.asked.count == count, "\(answer)")
        }
    }

    @Test("Nobody registers with a name that an access list of the cube has")
    func names() async throws {
        try await withGateway { gateway, _, people in
            for name in ["carl", "CARL"] {
                let count = people.asked.count
                let answer = try await gateway.request("POST", "/user", body: #"{"account":"\#(name)",\#(Self.signIn)}"#)
                #expect(answer.status == 409 && answer.object["field"] as? String == "account", "\(answer)")
                #expect(people.asked.count == count)
            }
        }
    }

    @Test("The words of paths beside the names of accounts are given to no account")
    func pathWords() {
        for segment in [FriendRoutes.requestsSegment, StudentAccountRoutes.importSegment] {
            #expect(AccountName(segment)?.isPathWord == true, "\(segment)")
        }
    }
}
