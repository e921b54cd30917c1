import Foundation
import Schemas
import TestSupport
import Testing

/// Who may change templates, and what the audit log says about it.
@Suite("Rights to templates", .timeLimit(.minutes(10)))
struct TemplateRightsTests {
    private func template(_ name: String, urgent: Bool = false, title: String = "t") -> String {
        #"{"name":"\#(name)","title":"\#(title)","desc":"d","message":"m","urgent":\#(urgent)}"#
    }

    private func id(_ answer: HTTPAnswer) throws -> String {
        #expect(answer.status == 201, "\(answer)")
        return try #require(answer.object["_id"] as? String)
    }

    @Test("Tokens for a part of the cube change no template, and only administrators change urgent ones")
    func rights() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let (ann, root) = (try await gateway.newSession("ann"), try await gateway.newSession("root", "super_user"))
            for session in [ann, root] { try await session.confirm() }
            let script = gateway.with(token: try await ann.makeToken(["read", "send"]))
            let own = try id(await ann.request("POST", "/template", body: template("Room moved")))
            let scripted = try id(await script.request("POST", "/template", body: template("Menu")))
            let evacuation = try id(await root.request("POST", "/template", body: template("Evacuation", urgent: true)))

            let scope = #""scope":["\#(cube.open.channel)"]"#
            let scopes = [
                gateway.with(token: try await ann.makeToken(["read", "send"], scope)),
                gateway.with(token: try await root.makeToken(["read", "send", "administer"], scope)),
            ]
            for scoped in scopes {
                for (method, target, body) in [
                    ("POST", "/template", template("New") as String?), ("PUT", "/template/\(own)", template("Other")),
                    ("DELETE", "/template/\(own)", nil), ("DELETE", "/template/\(evacuation)", nil),
                ] {
                    let refused = try await scoped.request(method, target, body: body)
                    #expect(refused.problem == "forbidden", "\(method) \(target): \(refused)")
                }
                #expect(try await scoped.request("GET", "/template/\(own)").status == 200)
            }
            for (method, target, body) in [
                ("POST", "/template", template("New", urgent: true) as String?),
                ("PUT", "/template/\(own)", template("Room moved", urgent: true)),
                ("PUT", "/template/\(evacuation)", template("Evacuation")), ("DELETE", "/template/\(evacuation)", nil),
            ] {
                let refused = try await ann.request(method, target, body: body)
                #expect(refused.problem == "forbidden", "\(method) \(target): \(refused)")
                let missing = target.replacing(evacuation, with: cube.open.channel.description)
                if missing != target { #expect(try await ann.request(method, missing, body: body).status == 404) }
            }
            let outdated = try #require(try await ann.request("GET", "/template/\(own)")["etag"])
            let changed = try await ann.request("PUT", "/template/\(own)", body: template("Room moved", title: "moved"))
            #expect(changed.status == 200)
            for tag in [outdated, "W/" + outdated, #""v99""#] {
                let late = try await ann.request(
                    "PUT", "/template/\(own)", headers: ["If-Match": tag], body: template("Room moved"))
                #expect(late.status == 412, "\(late)")
            }
            #expect(try await ann.request("DELETE", "/template/\(scripted)").status == 204)
            #expect(try await root.request("DELETE", "/template/\(evacuation)").status == 204)
            try await expectAudit(of: own, scripted, evacuation, at: gateway)
        }
    }

    @Test("A template names a subject that its author may send to, and keeps it when the subject is deleted")
    func subjects() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let (ann, bob) = (try await gateway.newSession("ann"), try await gateway.newSession("bob"))
            func body(_ name: String, _ topicKey: TopicKey?) -> String {
                let subject = topicKey.map { #","topic_key":"\#($0)""# } ?? ""
                return #"{"name":"\#(name)","title":"t","desc":"d","message":"m"\#(subject)}"#
            }
            let unknown = TopicKey(channel: cube.open.channel, area: cube.open.area, subject: ObjectID())
            let added = try await ann.request("POST", "/template", body: body("Storm", cube.anns))
            let storm = try id(added)
            #expect(added.object["topic_key"] as? String == cube.anns.description)
            let none = try await ann.request("POST", "/template", body: body("Menu", nil))
            #expect(none.status == 201 && none.object["topic_key"] == nil)
            for (topicKey, status) in [(unknown, 400), (cube.anns, 403)] {
                let refused = try await bob.request("POST", "/template", body: body("Other", topicKey))
                #expect(refused.status == status && refused.object["field"] as? String == "topic_key", "\(refused)")
            }
            // Another person's edit leaves the subject, and one that they may not send to is not an obstacle.
            let edited = try await bob.request("PUT", "/template/\(storm)", body: body("Gale", cube.anns))
            #expect(edited.status == 200 && edited.object["topic_key"] as? String == cube.anns.description)
            let moved = try await bob.request("PUT", "/template/\(storm)", body: body("Gale", unknown))
            #expect(moved.status == 400 && moved.object["field"] as? String == "topic_key")
            let path = "/subject/\(cube.anns.channel)/\(cube.anns.area)/\(cube.anns.subject)"
            #expect(try await gateway.request("DELETE", path).status == 204)
            #expect(try await ann.request("PUT", "/template/\(storm)", body: body("Storm", cube.anns)).status == 200)
            let cleared = try await ann.request("PUT", "/template/\(storm)", body: body("Storm", nil))
            #expect(cleared.status == 200 && cleared.object["topic_key"] == nil)
        }
    }

    private func expectAudit(
        of own: String, _ scripted: String, _ evacuation: String, at gateway: RunningGateway
    ) async throws {
        func entries(_ id: String) async throws -> [[String: Any]] { try await gateway.auditEntries("object=\(id)") }
        for (id, actors, actions) in [
            (own, ["ann", "ann"], ["template.update", "template.add"]),
            (scripted, ["ann", "ann"], ["template.delete", "template.add"]),
            (evacuation, ["root", "root"], ["template.delete", "template.add"]),
        ] {
            try await eventually("the entries of \(id)") { try await entries(id).count == 2 }
            let found = try await entries(id)
            #expect(found.map { $0["action"] as? String } == actions && found.map { $0["actor"] as? String } == actors)
            #expect(found.allSatisfy { $0["address"] as? String == "127.0.0.1" })
        }
        let update = try #require(try await entries(own).first)
        #expect((update["before"] as? [String: Any])?["title"] as? String == "t")
        #expect((update["after"] as? [String: Any])?["title"] as? String == "moved")
    }
}
