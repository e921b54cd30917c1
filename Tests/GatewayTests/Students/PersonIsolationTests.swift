import Base
import Foundation
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Nobody gets anything that is not for them: each route of persons, for each relation to another person, and each field of a profile.
@Suite("Isolation of persons", .timeLimit(.minutes(10)))
struct PersonIsolationTests {
    /// What a route may tell about others.
    private enum Entry {
        /// It names nobody. Its answer may have the names of others in these relations, and must have them if it is exact.
        case alone(_ target: String? = nil, body: JSONValue? = nil, tells: Set<PersonRelation> = [], isExact: Bool = true)
        /// It names an account. The statuses where the caller may know of the other; in all other relations the answer is that for a name
        /// that nobody has.
        case account([PersonRelation: Set<Int>])
        /// It names a device: that of another person, and one that nobody has, get this status.
        case device(Int, body: JSONValue? = nil)
        /// A stream; another test has it.
        case stream
    }

    private static let found: Set<PersonRelation> = [.friend, .asked, .received, .stranger]

    /// All routes of right ``Right/person``, without those of classes and study sessions, which ``StudyIsolationTests`` has. A route
    /// that is not here fails the test.
    private static let table: [String: Entry] = [
        "GET /user": .alone(),
        "POST /user/identities": .alone(body: ["provider": "google", "id_token": "a.b.c"]),
        "DELETE /user/identities/:provider": .alone("/user/identities/google"),
        "PUT /user/password": .alone(body: ["current": "wrong", "password": "violet-anchor-meadow"]),
        "POST /user/access-code": .alone(body: ["code": "K7QF-2M9X-ZB4T"]),
        "GET /user/devices": .alone(),
        "PUT /user/devices/:id": .device(403, body: [:]),
        "DELETE /user/devices/:id": .device(404),
        "GET /user/profile": .alone(),
        "PUT /user/profile": .alone(body: ["bio": "own", "visibility": [:]]),
        "GET /users/:id": .account([
            .oneself: [200], .friend: [200], .asked: [200], .received: [200], .stranger: [200], .blocked: [404],
        ]),
        "GET /users": .alone("/users?q=PREFIX", tells: found),
        "GET /user/preferences": .alone(),
        "PUT /user/preferences": .alone(body: ["pushes": ["friend_request": true]]),
        "GET /user/friends": .alone(tells: [.friend]),
        "POST /user/friends": .account([
            .oneself: [400], .friend: [200], .asked: [200], .received: [200], .stranger: [200], .blocked: [404],
        ]),
        "GET /user/friends/requests": .alone(tells: [.asked, .received]),
        "PUT /user/friends/:id": .account([
            .oneself: [400, 404], .friend: [204, 404], .asked: [404], .received: [204], .stranger: [404], .blocked: [404],
        ]),
        "DELETE /user/friends/:id": .account([
            .oneself: [204, 400, 404], .friend: [204], .asked: [204], .received: [204], .stranger: [204], .blocked: [204, 404],
        ]),
        "GET /user/blocked": .alone(tells: [.blocked]),
        "PUT /user/blocked/:id": .account([
            .oneself: [400, 404], .friend: [204], .asked: [204], .received: [204], .stranger: [204], .blocked: [204],
        ]),
        "DELETE /user/blocked/:id": .account([
            .oneself: [204, 400, 404], .friend: [204], .asked: [204], .received: [204], .stranger: [204], .blocked: [204],
        ]),
        "GET /user/events": .stream,
        "GET /user/export": .alone(tells: [.friend, .asked, .received, .blocked], isExact: false),
        "POST /user/erasure": .alone(body: ["nonce": "n", "proof": "p"]),
    ]

    @Test("Each route tells each person what is for them, and of hidden persons nothing: they look like a name that nobody has")
    func routes() async throws {
        let routes = try await Features.alone { $0.routes.filter { $0.right == .person && !$0.isOfStudy } }
        try await RunningGateway.with { gateway in
            let shared = try await PersonWorld(at: gateway, prefix: "rsx", visibility: .friends)
            for (number, route) in routes.enumerated() {
                let method = route.method.rawValue
                let entry = try #require(
                    Self.table["\(method) \(route.path)"], "\(method) \(route.path) has no entry in this table")
                var world = shared
                if case .account = entry, route.method != .get {
                    // The requests change what the persons are to each other.
                    world = try await PersonWorld(at: gateway, prefix: "r\(number)x", visibility: .friends)
                }
                switch entry {
                case .alone(let target, let body, let told, let isExact):
                    let target = (target ?? route.path).replacing("PREFIX", with: world.prefix)
                    let answer = try await world.caller.request(method, target, body: body)
                    check(answer, tells: told, isExact, in: world)
                case .account(let statuses): try await check(route, statuses, in: world)
                case .device(let status, let body): try await check(route, status, body, in: world)
                case .stream: break
                }
            }
        }
    }

    /// The answer of a route that names nobody.
    private func check(_ answer: HTTPAnswer, tells told: Set<PersonRelation>, _ isExact: Bool, in world: PersonWorld) {
        for relation in PersonRelation.allCases where relation != .oneself {
            let isTold = answer.text.contains(world.name(of: relation))
            #expect(isTold == told.contains(relation) || !isExact && !isTold, "\(relation): \(answer.text)")
            for secret in world.secrets(of: relation) { #expect(!answer.text.contains(secret), "\(relation): \(answer.text)") }
        }
    }

    /// The answers of a route that names an account.
    private func check(_ route: Route, _ statuses: [PersonRelation: Set<Int>], in world: PersonWorld) async throws {
        func ask(_ relation: PersonRelation) async throws -> HTTPAnswer {
            let name = world.name(of: relation)
            let target = route.path.replacing(":id", with: name)
            let body: JSONValue? =
                route.path.contains(":id") ? (route.body == nil ? nil : ["accept": true]) : ["account": .string(name)]
            return try await world.caller.request(route.method.rawValue, target, body: body)
        }
        func detail(_ answer: HTTPAnswer, _ relation: PersonRelation) -> String? {
            (answer.object["detail"] as? String)?.replacing(world.name(of: relation), with: "")
        }
        let none = try await ask(.nobody)
        #expect([204, 404].contains(none.status), "\(route.path): \(none)")
        for relation in PersonRelation.allCases where relation != .nobody {
            let answer = try await ask(relation)
            let place = "\(route.method) \(route.path) \(relation): \(answer)"
            if relation.isHidden {
                #expect(answer.status == none.status && detail(answer, relation) == detail(none, .nobody), "\(place)")
                #expect(answer.body.count - world.name(of: relation).utf8.count <= none.body.count, "\(place)")
            } else {
                #expect(statuses[relation]?.contains(answer.status) == true, "\(place)")
            }
            let sees = relation == .friend && route.path == "/users/:id"
            for secret in world.secrets(of: relation).prefix(sees ? 0 : .max) {
                #expect(!answer.text.contains(secret), "\(place)")
            }
        }
        // A person who blocks the caller notices nothing.
        if let blocking = world.devices[.blocking] {
            for target in ["/user/friends", "/user/friends/requests"] {
                #expect(try await !blocking.request("GET", target).text.contains(world.caller.account), "\(route.path)")
            }
        }
    }

    /// The answers of a route that names a device.
    private func check(_ route: Route, _ status: Int, _ body: JSONValue?, in world: PersonWorld) async throws {
        for relation in PersonRelation.allCases where relation != .oneself {
            let device = world.devices[relation]?.device ?? ObjectID()
            let answer = try await world.caller.request(
                route.method.rawValue, route.path.replacing(":id", with: "\(device)"), body: body)
            #expect(answer.status == status, "\(route.path) \(relation): \(answer)")
            guard let other = world.devices[relation], relation != .erased, relation != .disabled else { continue }
            #expect(try await other.request("GET", "/user").status == 200, "\(route.path) \(relation)")
        }
    }

    @Test("Each field of a profile is seen by those whom it is for, and by nobody without a choice")
    func fields() async throws {
        try await RunningGateway.with { gateway in
            for visibility in [nil] + Visibility.allCases.map(Optional.some) { try await expectFields(visibility, at: gateway) }
        }
    }

    private func expectFields(_ visibility: Visibility?, at gateway: RunningGateway) async throws {
        let world = try await PersonWorld(at: gateway, prefix: "v\(visibility?.rawValue ?? "none")x", visibility: visibility)
        let all: Set = ["first_name", "last_name", "born", "gender", "bio"]
        for relation in PersonRelation.allCases {
            // It begins with the choice.
            let name = world.name(of: relation)
            let answer = try await world.caller.request("GET", "/users/\(name)")
            let seen = Set(answer.object.keys).intersection(all.union(["email"]))
            let sees = relation == .friend && visibility != nil && visibility != .nobody
            #expect(seen == (sees ? all : []), "\(name): \(answer)")
            #expect(!answer.object.keys.contains("mutual_friends") || [.friend, .received].contains(relation), "\(name)")
            let code = answer.object["relation"] as? String
            let expected: [PersonRelation: String] = [
                .oneself: "self", .friend: "friends", .asked: "asked", .received: "received", .stranger: "none",
            ]
            #expect(code == expected[relation], "\(name): \(answer)")
        }
    }

    @Test("A person's own device gets one's own profile whole, whoever else sees it")
    func own() async throws {
        try await RunningGateway.with { gateway in
            let ann = try await gateway.student("ann")
            let profile: JSONValue = ["bio": "b", "first_name": "Ann", "visibility": ["bio": "nobody"]]
            #expect(try await ann.request("PUT", "/user/profile", body: profile).status == 200)
            #expect(try await ann.request("GET", "/user/profile").json == profile)
            let viewed = try await ann.request("GET", "/users/ann").object
            #expect(viewed["bio"] as? String == "b" && viewed["first_name"] as? String == "Ann")
        }
    }

    @Test("A stream tells nothing that happens between others, or by those who are hidden")
    func stream() async throws {
        try await RunningGateway.with { gateway in
            let world = try await PersonWorld(at: gateway, prefix: "evx", visibility: .friends)
            let headers = ["Authorization": "Bearer \(world.caller.token)"]
            try await withHTTPClient { http in
                try await EventStreamClient.with(
                    "http://127.0.0.1:\(gateway.port)/user/events", headers: headers, http: http
                ) { stream in
                    let (stranger, friend) = (try #require(world.devices[.stranger]), try #require(world.devices[.friend]))
                    let blocking = try #require(world.devices[.blocking])
                    try await stranger.befriend(friend)
                    for other in [stranger, blocking] {
                        let set = try await other.request("PUT", "/user/profile", body: ["bio": "new", "visibility": [:]])
                        #expect(set.status == 200, "\(set)")
                    }
                    _ = try await blocking.request("POST", "/user/friends", body: ["account": .string(world.caller.account)])
                    // Something that is for the caller comes after all of it.
                    let asked = try await gateway.student("evxlast")
                    _ = try await asked.request("POST", "/user/friends", body: ["account": .string(world.caller.account)])
                    try await eventually("a request") { stream.events("person").contains { $0["kind"] == "requests" } }
                    let text = "\(stream.events("person"))"
                    for relation in PersonRelation.allCases where relation != .oneself {
                        #expect(!text.contains(world.name(of: relation)), "\(text)")
                    }
                    #expect(stream.events("person").count <= 2, "\(text)")
                }
            }
        }
    }
}
