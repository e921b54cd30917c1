import Base
import Foundation
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Nobody learns what is not for them: of a class in which they are not, of classmates who are hidden from them, and of those who
/// have left.
@Suite("Isolation of classes", .timeLimit(.minutes(10)))
struct StudyIsolationTests {
    @Test("A class of others looks as one that nobody has, by each route")
    func classes() async throws {
        let routes = try await Features.alone { $0.routes.filter { $0.isOfStudy && $0.pathParameters.contains("classID") } }
        try await StudyWorld.with { world in
            let session = try await world.session(of: world.student)
            let post = try await world.student.post("Meet at the window", to: session, of: world.classID)
            let key = try await world.professor.expect(201, "POST", world.path("/keys"), ["role": "student"])
            let keyID = try #require(key.object["id"] as? String)
            let bodies: [String: JSONValue] = [
                "PUT /user/classes/:classID": ["new_sessions": true], "PUT /classes/:classID": ["description": "d"],
                "POST /classes/:classID/keys": ["role": "student"], "PUT /classes/:classID/roster/:account": ["role": "ta"],
                "POST /classes/:classID/sessions": StudyWorld.draft,
                "PUT /classes/:classID/sessions/:sessionID": ["topics": ["a"]],
                "POST /classes/:classID/sessions/:sessionID/position": StudyWorld.position,
                "POST /classes/:classID/sessions/:sessionID/invite": ["accounts": ["second"]],
                "POST /classes/:classID/sessions/:sessionID/posts": ["text": "t"],
                "DELETE /classes/:classID/sessions/:sessionID/posts": ["post": .string(post)],
            ]
            let secrets = ["Structures", "second", "Heaps", "window", try #require(key.object["code"] as? String)]
            for caller in world.callers where caller.role == nil {
                for route in routes {
                    func ask(_ classID: ObjectID) async throws -> HTTPAnswer {
                        let names = [
                            "classID": "\(classID)", "sessionID": session, "postID": post, "keyID": keyID, "account": "second",
                        ]
                        let target = names.reduce(route.path) { $0.replacing(":\($1.key)", with: $1.value) }
                        return try await caller.device.request(
                            route.method.rawValue, target, body: bodies["\(route.method.rawValue) \(route.path)"])
                    }
                    let none = ObjectID()
                    let (others, nobodys) = (try await ask(world.classID), try await ask(none))
                    let place = "\(route.method.rawValue) \(route.path) as \(caller): \(others)"
                    #expect(others.status == nobodys.status && [204, 404].contains(others.status), "\(place) \(nobodys)")
                    let detail = (others.object["detail"] as? String)?.replacing("\(world.classID)", with: "\(none)")
                    #expect(detail == nobodys.object["detail"] as? String, "\(place) \(nobodys)")
                    for secret in secrets { #expect(!others.text.contains(secret), "\(place)") }
                }
                for target in ["/user/classes", "/user/sessions", "/user/sessions/past"] {
                    let own = try await caller.device.expect(200, "GET", target)
                    for secret in secrets { #expect(!own.text.contains(secret), "\(target) as \(caller): \(own)") }
                }
                let near = try await caller.device.expect(
                    200, "POST", "/user/sessions/near", ["position": StudyWorld.position, "radius": 50_000])
                #expect(try near.json["sessions"]?.array.isEmpty == true, "\(caller): \(near)")
            }
            // Whoever may not see it has changed nothing of it.
            let own = try await world.student.expect(200, "GET", world.path("/sessions/\(session)"))
            #expect(try own.json["session"]?["topics"] == ["Heaps"])
            #expect(try await world.student.expect(200, "GET", world.path("/sessions/\(session)/posts")).text.contains(post))
        }
    }

    @Test("Classmates see of each other what is for classmates; hidden persons are not among them, and look like nobody")
    func classmates() async throws {
        try await RunningGateway.withStudy { gateway in
            let professor = try await gateway.professor("prof")
            for visibility in [nil] + Visibility.allCases.map(Optional.some) {
                try await expectClassmates(visibility, of: professor, at: gateway)
            }
        }
    }

    /// - Parameter visibility: Who sees the fields of the profiles; `nil` for no choice.
    private func expectClassmates(
        _ visibility: Visibility?, of professor: DeviceSession, at gateway: RunningGateway
    ) async throws {
        let prefix = "c\(visibility?.rawValue ?? "none")x"
        let classID = try await professor.makeClass("Structures-\(prefix)")
        let world = try await PersonWorld(at: gateway, prefix: prefix, visibility: visibility)
        try await world.caller.join(classID, by: professor)
        // Of the others, those who can still sign in.
        let mates: [PersonRelation] = [.friend, .asked, .received, .stranger, .blocked, .blocking]
        for relation in mates { try await #require(world.devices[relation]).join(classID, by: professor) }
        let answer = try await world.caller.expect(200, "GET", "/classes/\(classID)/classmates")
        let seen = try answer.json["people"]?.array.compactMap { $0["account"]?.string } ?? []
        for relation in PersonRelation.allCases {
            let isSeen = relation == .friend || visibility == .classmates && [.asked, .received, .stranger].contains(relation)
            let name = world.name(of: relation)
            #expect(seen.contains(name) == isSeen, "\(name): \(answer)")
        }
        let none = try await world.caller.request("GET", "/users/\(world.name(of: .nobody))")
        for relation in mates {
            let isHidden = relation == .blocked || relation == .blocking
            let isSeen = relation == .friend && visibility != nil && visibility != .nobody || visibility == .classmates
            let name = world.name(of: relation)
            var view: HTTPAnswer?
            // The gateway waits for the study service only for a moment, which may be too short on a busy machine.
            try await eventually("what classmates see; \(name): \(String(describing: view))") {
                let answer = try await world.caller.request("GET", "/users/\(name)")
                view = answer
                let code = answer.object["relation"] as? String
                return answer.status == (isHidden ? none.status : 200)
                    && answer.object.keys.contains("bio") == (isSeen && !isHidden)
                    && (relation != .stranger || code == "classmates")
            }
        }
        // Who is in the class no longer is a stranger.
        try await world.caller.expect(204, "DELETE", "/user/classes/\(classID)")
        let stranger = try await world.caller.expect(200, "GET", "/users/\(world.name(of: .stranger))")
        #expect(stranger.object["relation"] as? String == "none" && stranger.object["bio"] == nil, "\(stranger)")
    }

    @Test("Invitations reach friends of the class alone, and the answer is the same for all others")
    func invitations() async throws {
        try await RunningGateway.withStudy { gateway in
            let professor = try await gateway.professor("prof")
            let classID = try await professor.makeClass("Structures")
            let world = try await PersonWorld(at: gateway, prefix: "i", visibility: .classmates)
            for person in [world.caller] + world.devices.filter({ !$0.key.isHidden || $0.key == .blocking }).values {
                try await person.join(classID, by: professor)
            }
            let outside = try await gateway.student("ioutside")
            try await world.caller.befriend(outside)
            let session = try await world.caller.start(in: classID)
            let path = "/classes/\(classID)/sessions/\(session)/invite"
            let everybody = PersonRelation.allCases.map { JSONValue.string(world.name(of: $0)) } + ["ioutside"]
            let answer = try await world.caller.expect(200, "POST", path, ["accounts": .array(everybody)])
            #expect(try answer.json["invited"] == [.string(world.name(of: .friend))], "\(answer)")
            for (relation, person) in world.devices where relation != .erased && relation != .disabled {
                // The gateway waits for the people service only for a moment, which may be too short on a busy machine.
                try await eventually("what \(relation) is invited to") {
                    let own = try await person.expect(200, "GET", "/user/sessions")
                    return try own.json["invites"]?.array.count == (relation == .friend ? 1 : 0)
                }
            }
            #expect(try await outside.expect(200, "GET", "/user/sessions").json["invites"]?.array.isEmpty == true)
        }
    }

    @Test("An invitation is seen as long as the two are friends, whoever ends that; then neither is among the other's friends")
    func formerFriends() async throws {
        try await StudyWorld.with { world in
            let (host, ann) = (world.student, world.callers[0].device)
            let session = try await world.session(of: host)
            func inviters() async throws -> [String] {
                let own = try await ann.expect(200, "GET", "/user/sessions")
                return try own.json["invites"]?.array.compactMap { $0["by"]?.string } ?? []
            }
            try await host.befriend(ann)
            try await host.expect(200, "POST", world.path("/sessions/\(session)/invite"), ["accounts": [.string(ann.account)]])
            for (person, other) in [(ann, host), (host, ann)] {
                for (method, path) in [("DELETE", "/user/friends/"), ("PUT", "/user/blocked/")] {
                    // The gateway waits for the people service only for a moment, which may be too short on a busy machine.
                    try await eventually("the invitation") { try await inviters() == [host.account] }
                    try await person.expect(204, method, path + other.account)
                    #expect(try await inviters().isEmpty, "\(person.account): \(method) \(path)")
                    // These give the friends on the map their colour.
                    for one in [ann, host] {
                        let friends = try await one.expect(200, "GET", "/user/friends")
                        #expect(try friends.json["friends"]?.array.isEmpty == true, "\(friends)")
                    }
                    try await person.expect(204, "DELETE", "/user/blocked/" + other.account)
                    try await host.befriend(ann)
                }
            }
            // The invitation of a friend takes the place of one that is not seen.
            let friend = world.assistant
            try await friend.befriend(ann)
            try await friend.expect(200, "POST", world.path("/sessions/\(session)"))
            try await ann.expect(204, "DELETE", "/user/friends/" + host.account)
            try await friend.expect(200, "POST", world.path("/sessions/\(session)/invite"), ["accounts": [.string(ann.account)]])
            try await eventually("the friend's invitation") { try await inviters() == [friend.account] }
        }
    }

    @Test("Who has left a class is in none of its lists, and one's own history names nobody else")
    func leaving() async throws {
        try await StudyWorld.with { world in
            let (ann, student) = (world.callers[0].device, world.student)
            let session = try await world.session(of: student)
            try await ann.expect(200, "POST", world.path("/sessions/\(session)"))
            try await ann.expect(204, "DELETE", "/user/classes/\(world.classID)")
            for target in ["/sessions", "/sessions/\(session)", "/roster", "/classmates"] {
                let answer = try await world.professor.expect(200, "GET", world.path(target))
                #expect(!answer.text.contains("\"ann\""), "\(target): \(answer)")
            }
            try await student.expect(204, "DELETE", world.path("/sessions/\(session)"))
            let own = try await student.expect(200, "GET", "/user/sessions/past")
            #expect(try own.json["sessions"]?.array.count == 1, "\(own)")
            for name in ["ann", "prof", "second"] { #expect(!own.text.contains("\"\(name)"), "\(own)") }
            let history = try await world.professor.expect(200, "GET", world.path("/sessions/past"))
            #expect(history.text.contains("\"ann\"") && history.text.contains("\"second\""), "\(history)")
        }
    }

    @Test("Nothing happens on the streams of those who are not in a class, whatever classes they ask for")
    func streams() async throws {
        try await StudyWorld.with { world in
            try await withHTTPClient { http in
                func url(_ classes: [ObjectID]) -> String {
                    let list = classes.map(\.description).joined(separator: ",")
                    return "http://127.0.0.1:\(world.gateway.port)/user/events?classes=\(list)"
                }
                let (gone, nobody, ann) = (world.callers[4].device, world.callers[5].device, world.callers[0].device)
                func headers(_ person: DeviceSession) -> [String: String] { ["Authorization": "Bearer \(person.token)"] }
                let all = url([world.classID, world.otherClass])
                try await EventStreamClient.with(all, headers: headers(gone), http: http) { left in
                    try await EventStreamClient.with(all, headers: headers(nobody), http: http) { other in
                        try await EventStreamClient.with(all, headers: headers(ann), http: http) { own in
                            let session = try await world.session(of: world.student)
                            _ = try await world.student.post("t", to: session, of: world.classID)
                            try await eventually("both events") {
                                let kinds = own.events("class").compactMap { $0["kind"]?.string }
                                return Set(kinds) == ["sessions", "posts"]
                            }
                            #expect(own.events("class").allSatisfy { $0["class"]?.string == "\(world.classID)" })
                            try await eventually("a sign of life") {
                                !left.events("alive").isEmpty && !other.events("alive").isEmpty
                            }
                            #expect(left.events("class").isEmpty && other.events("class").isEmpty)
                        }
                    }
                }
            }
        }
    }
}
