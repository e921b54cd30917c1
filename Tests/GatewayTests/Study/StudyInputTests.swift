import Base
import Foundation
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// What the gateway itself does for classes and study sessions: it checks requests, asks two services, and makes files.
@Suite("Requests about study", .timeLimit(.minutes(10)))
struct StudyInputTests {
    private static let one = "/classes/\(ObjectID())"
    private static let of = "\(one)/sessions/\(ObjectID())"

    private let signer = TokenSigner()

    /// Runs a test with a gateway and a people service that the test makes up.
    private func withPeople(
        in folder: String, _ body: (_ ann: RunningGateway, PeopleDouble) async throws -> Void
    ) async throws {
        let people = PeopleDouble(signer)
        try await people.run(in: folder) {
            try await RunningGateway.with(services: [], in: folder) { gateway in
                let ann = gateway.with(token: try signer.token("ann").text)
                try await eventually("the keys") { try await ann.request("GET", "/user").status == 200 }
                try await body(ann, people)
            }
        }
    }

    /// The same beside a study service that the test makes up.
    private func withGateway(
        _ study: StudyDouble = StudyDouble(),
        _ body: (_ ann: RunningGateway, StudyDouble, PeopleDouble) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await study.run(in: folder) {
                try await withPeople(in: folder) { ann, people in try await body(ann, study, people) }
            }
        }
    }

    private static let place = #""place":{"latitude":1,"longitude":2}"#
    private static let position = #""position":{"latitude":1,"longitude":2,"accuracy":3}"#

    @Test("Bodies, names and queries that cannot be right are refused before the study service is asked")
    func invalid() async throws {
        try await withGateway { ann, study, _ in
            let count = study.asked.count
            let minutes = #""minutes":60"#
            let topics = #""topics":["a"]"#
            let long = String(repeating: "t", count: 1_001)
            let requests: [(String, String, String?, String)] = [
                ("POST", "/user/classes", #"{"key":""}"#, "key"), ("POST", "/user/classes", "{}", "key"),
                ("PUT", "/user/classes/x", #"{"new_sessions":true}"#, "classID"),
                ("PUT", "\(Self.one)", #"{"name_days":0}"#, "name_days"),
                ("POST", "\(Self.one)/keys", #"{"role":"professor"}"#, "role"),
                ("POST", "\(Self.one)/keys", #"{"role":"ta","uses":0}"#, "uses"),
                ("DELETE", "\(Self.one)/keys/1", nil, "keyID"),
                ("PUT", "\(Self.one)/roster/b%20b", #"{"role":"ta"}"#, "account"),
                ("PUT", "\(Self.one)/roster/bob", #"{"role":"professor"}"#, "role"),
                ("GET", "\(Self.one)/roster?limit=101", nil, "limit"),
                ("GET", "\(Self.one)/classmates?limit=201", nil, "limit"),
                ("POST", "\(Self.one)/sessions", #"{"topics":[],\#(Self.place),\#(minutes)}"#, "topics"),
                ("POST", "\(Self.one)/sessions", #"{"topics":["Bäume","BÄUME"],\#(Self.place),\#(minutes)}"#, "topics"),
                ("POST", "\(Self.one)/sessions", #"{\#(topics),\#(Self.place),"minutes":4}"#, "minutes"),
                ("POST", "\(Self.one)/sessions", #"{\#(topics),\#(Self.place),\#(minutes),"attends":false}"#, "attends"),
                ("GET", "\(Self.one)/sessions/past?format=xml", nil, "format"),
                ("GET", "\(Self.one)/sessions/past?until=-1", nil, "until"), ("GET", "\(Self.one)/sessions/1", nil, "sessionID"),
                ("GET", "\(Self.one)/sessions/past?from=5&until=1", nil, "until"),
                ("GET", "\(Self.one)/sessions/past?from=5&until=5&format=csv", nil, "until"),
                ("POST", Self.of, #"{"leave":1}"#, "leave"), ("PUT", Self.of, #"{"host":"b b"}"#, "host"),
                ("POST", "\(Self.of)/invite", #"{"accounts":"bob"}"#, "accounts"),
                ("POST", "\(Self.of)/posts", #"{"text":" "}"#, "text"),
                ("POST", "\(Self.of)/posts", #"{"text":"\#(long)"}"#, "text"),
                ("DELETE", "\(Self.of)/posts", #"{"post":"1"}"#, "post"), ("DELETE", "\(Self.of)/posts/1", nil, "postID"),
                ("GET", "/user/sessions/past?before=1", nil, "before"),
                ("POST", "/user/sessions/near", #"{\#(Self.position),"radius":0}"#, "radius"),
                ("POST", "\(Self.of)/position", #"{"latitude":1,"longitude":2}"#, "accuracy"),
            ]
            for (method, target, body, field) in requests {
                let answer = try await ann.request(method, target, body: body)
                #expect(answer.status == 400 && answer.object["field"] as? String == field, "\(method) \(target): \(answer)")
            }
            #expect(study.asked.count == count)
        }
    }

    @Test("Every POST takes an Idempotency-Key, and refuses one that is none")
    func keys() async throws {
        let routes = try await Features.alone { $0.routes.filter { $0.isOfStudy && $0.method == .post } }
        #expect(routes.count == 10)
        for route in routes {
            let headers = route.documentation?.headers.map(\.name) ?? []
            #expect(headers.contains(.idempotencyKey), "\(route.path)")
        }
        try await withGateway { ann, study, _ in
            let count = study.asked.count
            for route in routes {
                let target = route.path.replacing(/:\w+/) { _ in "\(ObjectID())" }
                let near = #"{\#(Self.position),"radius":9}"#
                let bodies = ["/user/classes": #"{"key":"K"}"#, "/user/sessions/near": near]
                let long = ["Idempotency-Key": String(repeating: "k", count: 256)]
                let answer = try await ann.request("POST", target, headers: long, body: bodies[route.path] ?? "{}")
                // Without the mark of professors.
                let isRefused = route.path == "/class" && answer.status == 403
                #expect(answer.status == 400 || isRefused, "\(target): \(answer)")
            }
            #expect(study.asked.count == count)
        }
    }

    @Test("No answer repeats where somebody says to be")
    func positions() async throws {
        try await withGateway { ann, _, _ in
            for position in [
                #"{"latitude":251.50071,"longitude":-0.12462,"accuracy":5}"#, #"{"latitude":51.50071,"longitude":2}"#,
                #"{"latitude":51.50071,"longitude":-1251.50071,"accuracy":5}"#,
                #"{"latitude":"51.50071","longitude":1}"#, #"{"latitude":51.50071}"#,
                #"{"latitude":51.50071,"longitude":1,"accuracy":-51.50071}"#,
                #"{"latitude":51.50071,"longitude":1,"height":51.50071}"#,
                #"{"latitude":1e451.50071,"longitude":1}"#, #"{"latitude":[51.50071],"longitude":1}"#, #"[51.50071]"#,
            ] {
                let near = try await ann.request(
                    "POST", "/user/sessions/near", body: #"{"position":\#(position),"radius":800}"#)
                let reported = try await ann.request("POST", "\(Self.of)/position", body: position)
                for answer in [near, reported] {
                    #expect(answer.status == 400 && !answer.text.contains("1.50071"), "\(position): \(answer)")
                }
            }
        }
    }

    @Test("Classmates are those whom the people service names; nobody else, and nobody for a class in which the caller is not")
    func classmates() async throws {
        try await withGateway { ann, study, people in
            let page = try await ann.request("GET", "\(Self.one)/classmates")
            let asked = try #require(people.asked.last)
            #expect(asked.name == "person.classmates" && asked.fields == ["accounts": ["bob", "carl"]] && asked.actor == "ann")
            #expect(try page.json["people"]?.array.count == 1 && page.object["next"] as? String == "2-b", "\(page)")
            #expect(!page.text.contains("carl"))
            people.fail("person.classmates", CommandFailure(.forbidden, "of the staff"))
            let staff = try await ann.request("GET", "\(Self.one)/classmates")
            #expect(try staff.status == 200 && staff.json["people"]?.array.isEmpty == true, "\(staff)")
            people.fail("person.classmates", nil)
            study.fail("class.mates", CommandFailure(.notFound, "no class"))
            let count = people.asked.count
            #expect(try await ann.request("GET", "\(Self.one)/classmates").status == 404 && people.asked.count == count)
        }
    }

    @Test("Only friends are invited, whom the staff does not have; the answer does not say who is none")
    func friends() async throws {
        try await withGateway { ann, study, people in
            let wanted = #"{"accounts":["carl","BOB","dora"]}"#
            let answer = try await ann.request("POST", "\(Self.of)/invite", body: wanted)
            #expect(try answer.json == ["invited": ["BOB"]])
            people.fail("friend.list", CommandFailure(.forbidden, "of the staff"))
            let none = try await ann.request("POST", "\(Self.of)/invite", body: wanted)
            #expect(try none.status == 200 && none.json == ["invited": []])
            people.fail("friend.list", CommandFailure(.unavailable, "away"))
            let count = study.asked.count
            #expect(try await ann.request("POST", "\(Self.of)/invite", body: wanted).status == 503)
            #expect(study.asked.count == count)
        }
    }

    @Test("An invitation is shown as long as the people service says that the two are friends; without one it is not asked")
    func invitations() async throws {
        try await withGateway { ann, study, people in
            let target = "/user/sessions"
            let count = people.asked.count
            let none = try await ann.request("GET", target)
            #expect(try none.json["invites"]?.array.isEmpty == true && people.asked.count == count, "\(none)")
            study.invite(by: ["dora", "BOB"])
            func inviters() async throws -> [String] {
                let answer = try await ann.request("GET", target)
                #expect(answer.status == 200 && answer.object["current"] != nil && !answer.text.contains("dora"), "\(answer)")
                return try answer.json["invites"]?.array.compactMap { $0["by"]?.string } ?? []
            }
            // The gateway waits for the people service only for a moment, which may be too short on a busy machine.
            try await eventually("the invitation of a friend") { try await inviters() == ["BOB"] }
            let asked = try #require(people.asked.last)
            #expect(asked.name == "friend.list" && asked.actor == "ann")
            for failure in [CommandFailure(.forbidden, "of the staff"), CommandFailure(.unavailable, "away")] {
                people.fail("friend.list", failure)
                #expect(try await inviters().isEmpty)
            }
            people.fail("friend.list", nil)
            try await eventually("the invitation again") { try await inviters() == ["BOB"] }
        }
    }

    @Test("The view of a classmate says so to the people service; oneself is none, and without the study service nobody is")
    func profiles() async throws {
        let study = StudyDouble()
        study.put(["ann", "bob"], into: ObjectID())
        study.put(["bob", "carl"], into: ObjectID())
        try await withGateway(study) { ann, study, people in
            for (name, isClassmate) in [("bob", true), ("BOB", true), ("carl", false), ("ann", false)] {
                let expected: JSONValue =
                    isClassmate ? ["account": .string(name), "classmate": true] : ["account": .string(name)]
                // The gateway waits for the study service only for a moment, which may be too short on a busy machine.
                try await eventually("the view of \(name)") {
                    let view = try await ann.request("GET", "/users/\(name)")
                    return view.status == 200 && people.asked.last?.fields == expected
                }
            }
            study.fail("class.shared", CommandFailure(.internal, "it has failed"))
            #expect(try await ann.request("GET", "/users/bob").status == 200)
            #expect(people.asked.last?.fields == ["account": "bob"])
        }
        try await withTemporaryFolder { folder in
            try await withPeople(in: folder) { ann, people in
                #expect(try await ann.request("GET", "/users/bob").status == 200)
                #expect(people.asked.last?.fields == ["account": "bob"])
                let away = try await ann.request("GET", "/user/classes")
                #expect(away.status == 503 && away.problem == "service-unavailable" && away["retry-after"] == "2", "\(away)")
            }
        }
    }

    @Test("The history is a CSV file with all pages for who asks for one, and no cell is a formula")
    func csv() async throws {
        try await withGateway { ann, study, _ in
            for (query, headers) in [("?format=csv&topic=Heaps", [:]), ("?topic=Heaps", ["Accept": "text/csv"])] {
                let count = study.asked.count
                let answer = try await ann.request("GET", "\(Self.one)/sessions/past\(query)", headers: headers)
                #expect(answer.status == 200 && answer["content-type"]?.hasPrefix("text/csv") == true, "\(answer)")
                #expect(answer["content-disposition"] == "attachment; filename=\"sessions.csv\"")
                #expect(answer["vary"] == "Accept, Accept-Encoding")
                let lines = answer.text.components(separatedBy: "\r\n")
                #expect(lines.count == 4 && lines[1] == lines[2] && lines[3].isEmpty, "\(lines)")
                #expect(lines[1].contains(",\"Heaps; Sorting\",") && lines[1].hasSuffix(",ann,17,2026-11-21T12:01:02.399Z,60"))
                let asked = study.asked.dropFirst(count).map(\.fields)
                #expect(asked.count == 2 && asked.allSatisfy { $0["topic"] == "Heaps" })
                #expect(asked.last?["after"] == "p1")
            }
            study.fail("study_session.history", CommandFailure(.forbidden, "for the professor"))
            #expect(try await ann.request("GET", "\(Self.one)/sessions/past?format=csv").status == 403)
        }
        let host = PastPerson(account: nil, number: 3)
        let session = PastSession(
            id: ObjectID(), topics: ["=1+1"], description: nil, placeName: "@home", starts: 0, ended: 60_000, reason: .host,
            sponsored: true, host: host, attendants: [], posts: 0)
        let line = try #require(CSVLine.lines(of: session).first)
        #expect(line.text.contains(",host,\"'=1+1\",,\"'@home\",true,,3,0,,,,\r\n"), "\(line.text)")
        let columns = CSVLine.pastSessionHeader.text.split(separator: ",").count
        #expect(line.text.split(separator: ",", omittingEmptySubsequences: false).count == columns)
    }
}
