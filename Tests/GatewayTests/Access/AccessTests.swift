import Foundation
import Schemas
import TestSupport
import Testing

/// The access lists of the cube, over HTTP.
@Suite("Access lists over HTTP", .timeLimit(.minutes(10)))
struct AccessTests {
    @Test("A communicator sends, recalls and sees history only where the lists allow it, and is the message's sender")
    func lists() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let ann = try await gateway.newSession("ann")
            let bob = try await gateway.newSession("bob")
            // Scheduled, so that they can be recalled.
            let later = #""send_at":\#(Int64.nowInMilliseconds + 3_600_000)"#
            func post(_ caller: BrowserSession, _ topic: TopicKey) async throws -> HTTPAnswer {
                let message = SamplePath(topic).message(and: later)
                return try await caller.request("POST", "/message", body: message)
            }
            for topic in [cube.open, cube.anns] { #expect(try await post(ann, topic).status == 201) }
            let refused = try await post(bob, cube.anns)
            #expect(refused.status == 403 && refused.problem == "forbidden", "\(refused)")
            #expect((refused.object["detail"] as? String)?.contains("Campus / Weather / Ann's") == true, "\(refused)")
            #expect(refused.object["field"] as? String == "topic_key")

            let posted = try await post(ann, cube.anns)
            let message = "/message/\(try #require(posted.object["msi_key"] as? String))"
            let read = try await ann.request("GET", message)
            #expect(read.status == 200 && read.object["sender"] as? String == "ann")
            #expect(try await bob.request("GET", "/message/\(ObjectID())").status == 404)
            try await ann.confirm()
            let elsewhere = gateway.with(token: try await ann.makeToken(["read", "send"], #""scope":["\#(cube.open)"]"#))
            // For bob, and for a token of ann's for another subject, the message does not exist.
            for (method, target) in [
                ("GET", message), ("DELETE", message), ("POST", message + "/retry"), ("POST", message + "/approve"),
            ] {
                let refused = try await bob.request(method, target)
                #expect(refused.status == 404 && !refused.text.contains("Weather"), "\(method): \(refused)")
                // A token approves nothing.
                let expected = target.hasSuffix("approve") ? 403 : 404
                #expect(try await elsewhere.request(method, target).status == expected, "\(method) \(target)")
            }
            #expect(try await ann.request("POST", message + "/retry").status == 409)
            func topics(_ caller: BrowserSession) async throws -> [String] {
                let page = try await caller.request("GET", "/message")
                return try #require(page.object["messages"] as? [[String: Any]], "\(page)").compactMap {
                    $0["topic_key"] as? String
                }
            }
            #expect(try await topics(ann) == [cube.anns, cube.anns, cube.open].map(\.description))
            #expect(try await topics(bob) == [cube.open.description])
            #expect(try await bob.request("GET", "/message?subject=\(cube.anns.subject)").text.contains("\"messages\":[]"))
            let all = try await gateway.request("GET", "/message")
            #expect((all.object["messages"] as? [Any])?.count == 3)
            #expect(try await ann.request("DELETE", message).status == 200)

            let session = try await bob.request("GET", "/session")
            #expect(session.object["topics"] as? [String] == [cube.open.description])
            #expect(try await gateway.request("GET", "/session").object["topics"] == nil)
        }
    }

    @Test("A sender sees and takes back an own message after its subject was deleted, and cannot send it once more")
    func ownMessages() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let ann = try await gateway.newSession("ann")
            let bob = try await gateway.newSession("bob")
            let later = #""send_at":\#(Int64.nowInMilliseconds + 3_600_000)"#
            let posted = try await ann.request("POST", "/message", body: SamplePath(cube.open).message(and: later))
            let message = "/message/\(try #require(posted.object["msi_key"] as? String, "\(posted)"))"
            #expect(try await ann.request("POST", "/message", body: SamplePath(cube.anns).message(and: later)).status == 201)
            let subject = "/subject/\(cube.open.channel)/\(cube.open.area)/\(cube.open.subject)"
            #expect(try await gateway.request("DELETE", subject).status == 204)
            func count(_ caller: BrowserSession, _ query: String = "") async throws -> Int? {
                (try await caller.request("GET", "/message" + query).object["messages"] as? [Any])?.count
            }
            // Each once, including those that the lists allow anyway.
            for (query, expected) in [("", 2), ("?sender=ann", 2), ("?limit=1", 1)] {
                #expect(try await count(ann, query) == expected, "\(query)")
            }
            for query in ["", "?sender=ann"] { #expect(try await count(bob, query) == 0, "\(query)") }
            #expect(try await bob.request("GET", message).status == 404)
            #expect(try await ann.request("POST", message + "/retry").status == 403)
            let recalled = try await ann.request("DELETE", message)
            #expect(recalled.status == 200 && (recalled.object["relay"] as? [String: Any])?["state"] as? String == "recalled")
            #expect(try await ann.request("GET", "/message?format=csv").text.contains("recalled"))
        }
    }

    @Test("A token's scope restricts where it sends and what it sees")
    func scope() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let ann = try await gateway.newSession("ann")
            try await ann.confirm()
            let area = "\(cube.anns.channel)-\(cube.anns.area)"
            for (scope, isInside) in [(area, true), (cube.anns.description, true), (cube.open.description, false)] {
                let token = try await ann.makeToken(["read", "send"], #""scope":["\#(scope)"]"#)
                let script = gateway.with(token: token)
                let posted = try await script.request("POST", "/message", body: SamplePath(cube.anns).message())
                #expect(posted.status == (isInside ? 201 : 403), "\(scope): \(posted)")
                let page = try await script.request("GET", "/message").text
                #expect(page.contains(cube.anns.description) == isInside)
            }
        }
    }

    @Test("A token that may only send does not see messages")
    func sendOnly() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let ann = try await gateway.newSession("ann")
            try await ann.confirm()
            let script = gateway.with(token: try await ann.makeToken(["send"]))
            let later = #""send_at":\#(Int64.nowInMilliseconds + 3_600_000)"#
            let posted = try await ann.request("POST", "/message", body: SamplePath(cube.anns).message(and: later))
            let message = "/message/\(try #require(posted.object["msi_key"] as? String, "\(posted)"))"
            #expect(try await script.request("GET", message).status == 403)
            let recalled = try await script.request("DELETE", message)
            #expect(recalled.status == 204 && recalled.body.isEmpty, "\(recalled)")
            let relay = try await ann.request("GET", message).object["relay"] as? [String: Any]
            #expect(relay?["state"] as? String == "recalled")
        }
    }

    @Test("Everyone reads the cube without access lists; administrators see them, under another entity tag")
    func representations() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let anonymous = try await gateway.with(token: nil).request("GET", "/channel")
            let ann = try await gateway.newSession("ann")
            let communicator = try await ann.request("GET", "/channel")
            // Such a route waits only shortly for the check of a token, and then answers as to an anonymous request.
            let administrator = try await eventually("the answer to an administrator") {
                let answer = try await gateway.request("GET", "/channel")
                return answer["etag"] == anonymous["etag"] ? nil : answer
            }
            #expect(anonymous.status == 200 && !anonymous.text.contains("ann\""))
            #expect(communicator.text == anonymous.text && communicator["etag"] == anonymous["etag"])
            #expect(administrator.text.contains(#""access":["ann"]"#) && administrator["etag"] != anonymous["etag"])
            for answer in [anonymous, administrator] { #expect(answer["vary"]?.contains("Authorization") == true) }
            let tag = try #require(anonymous["etag"])
            let unchanged = try await gateway.with(token: nil).request("GET", "/channel", headers: ["If-None-Match": tag])
            #expect(unchanged.status == 304)
            try await eventually("the administrator's version is another one") {
                try await gateway.request("GET", "/channel", headers: ["If-None-Match": tag]).status == 200
            }
            // Either tag is a version for an edit.
            let edited = try await gateway.request(
                "PUT", "/channel/\(cube.anns.channel)", headers: ["If-Match": "W/" + tag], body: #"{"name":"n","desc":"d"}"#)
            #expect(edited.status == 200, "\(edited)")
        }
    }
}

/// A cube with a subject for everyone and one whose area is ann's.
struct CampusCube: Sendable {
    let open = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
    let anns: TopicKey

    init() {
        anns = TopicKey(channel: open.channel, area: ObjectID(), subject: ObjectID())
    }

    /// Runs a test with the services on this cube.
    static func withGateway(
        settings: [String: String] = [:], _ body: (RunningGateway, CampusCube) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cube = CampusCube()
            try await storeCube([cube.channel], version: 7, in: folder)
            try await RunningGateway.with(in: folder, settings: settings) { try await body($0, cube) }
        }
    }

    private var channel: Channel {
        Channel(
            id: open.channel, name: "Campus", desc: "",
            areas: [
                Area(id: open.area, name: "Library", desc: "", subjects: [subject(open, "Hours")]),
                Area(id: anns.area, name: "Weather", desc: "", access: ["ann"], subjects: [subject(anns, "Ann's")]),
            ])
    }

    private func subject(_ topic: TopicKey, _ name: String) -> Subject {
        Subject(
            id: topic.subject, name: name, desc: "", topicKey: topic,
            opt: SubjectOptions(level: .optional, distribution: .alert))
    }
}

extension SamplePath {
    init(_ topic: TopicKey) {
        self.init(
            channel: "\(topic.channel)", area: "\(topic.area)", subject: "\(topic.subject)", topicKey: "\(topic)")
    }
}
