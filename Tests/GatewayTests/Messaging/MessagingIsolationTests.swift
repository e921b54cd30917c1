import Base
import Foundation
import HTTPTypes
import Schemas
import TestSupport
import Testing

@testable import Gateway

/// Nobody gets anything of messages, statuses and pictures that is not for them, by each route and id.
@Suite("Isolation of messages between persons", .timeLimit(.minutes(10)))
struct MessagingIsolationTests {
    @Test("What is Ann's looks to all but her friends as what nobody has, after the end of a friendship and a block as well")
    func outsiders() async throws {
        let declared = try await Features.alone { $0.routes.filter(\.isOfMessaging) }
        try await MessagingWorld.with { world in
            let named = MessagingWorld.requests(about: world.objects).map { "\($0.method) \($0.path)" }
            #expect(
                Set(declared.map { "\($0.method.rawValue) \($0.path)" }) == MessagingWorld.ownRoutes.union(named),
                "a route has no entry in MessagingWorld")
            for (relation, device) in world.outsiders { try await expectNothing(for: device, "\(relation)", in: world) }
            try await expectAll(in: world)
            try await world.bob.expect(204, "DELETE", "/user/friends/wann")
            try await expectNothing(for: world.bob, "Bob, after the end", in: world)
        }
    }

    /// Checks that a person gets nothing of Ann's, and changes nothing of it.
    private func expectNothing(for person: DeviceSession, _ name: String, in world: MessagingWorld) async throws {
        for target in ["/user/messages", "/getMessage", "/user/statuses", "/getStatus", "/user/status", "/user/messaging"] {
            let answer = try await person.request("GET", target)
            // A second poll comes too soon.
            #expect([200, 429].contains(answer.status), "\(target) as \(name): \(answer)")
            expectNoSecret(in: answer, "\(target) as \(name)")
            #expect(!answer.text.contains("wann"), "\(target) as \(name): \(answer)")
        }
        let nobodys = MessagingWorld.Objects(
            account: "wnobody", message: "\(ObjectID())", picture: "\(ObjectID())", status: "\(ObjectID())",
            upload: "\(ObjectID())")
        let requests = zip(
            MessagingWorld.requests(about: world.objects), MessagingWorld.requests(about: nobodys))
        for (request, other) in requests {
            // Everybody can report a text, and who has got the message is told what it was.
            let isReport = request.path == "/user/reports" && request.body?["text"] != nil
            if isReport, person.account == world.bob.account { continue }
            let answer = try await person.request(request.method, request.target, body: request.body)
            let none = try await person.request(other.method, other.target, body: other.body)
            let place = "\(request.method) \(request.path) as \(name): \(answer) \(none)"
            #expect(answer.status == none.status && [201, 204, 404].contains(answer.status), "\(place)")
            #expect((answer.status == 201) == isReport, "\(place)")
            #expect(answer.object["verdict"] as? String == none.object["verdict"] as? String, "\(place)")
            #expect(answer.object["field"] as? String == none.object["field"] as? String, "\(place)")
            expectNoSecret(in: answer, place)
            // A stranger is found, but shows no picture.
            guard request.path != "/users/:id/picture" else { continue }
            #expect(detail(answer, without: world.objects) == detail(none, without: nobodys), "\(place)")
        }
    }

    private func detail(_ answer: HTTPAnswer, without objects: MessagingWorld.Objects) -> String? {
        let names = [objects.account, objects.message, objects.picture, objects.status, objects.upload]
        return (answer.object["detail"] as? String).map { names.reduce($0) { $0.replacing($1, with: "") } }
    }

    private func expectNoSecret(in answer: HTTPAnswer, _ place: String) {
        for secret in MessagingWorld.secrets { #expect(!answer.text.contains(secret), "\(place)") }
    }

    /// Checks that Bob has everything, and that nobody has changed anything of it.
    private func expectAll(in world: MessagingWorld) async throws {
        let (bob, objects) = (world.bob, world.objects)
        let page = try await bob.expect(200, "GET", "/user/conversations/wann").json
        #expect(page["messages"]?.array.compactMap { $0["id"]?.string } == [objects.picture, objects.message], "\(page)")
        #expect(page["messages"]?.array.last?["text"]?.string == MessagingWorld.text, "\(page)")
        #expect(page["conversation"]?["unread"] == 2, "\(page)")
        for (target, picture) in [
            ("/user/messages/\(objects.picture)/picture", MessagingWorld.pictures[0]),
            ("/user/statuses/\(objects.status)/picture", MessagingWorld.pictures[1]),
            ("/users/wann/picture", MessagingWorld.pictures[2]),
        ] {
            let answer = try await bob.expect(200, "GET", target)
            #expect(answer.body == picture, "\(target)")
        }
        let statuses = try await bob.expect(200, "GET", "/user/statuses").json
        #expect(statuses["statuses"]?.array.map { $0["account"]?.string } == ["wann"], "\(statuses)")
        #expect(statuses["statuses"]?.array.first?["seen"] == false, "\(statuses)")
        let own = try await world.ann.expect(200, "GET", "/user/status").json
        #expect(own["status"]?["seen"] == 0, "\(own)")
        let sent = try await world.ann.expect(200, "GET", "/user/conversations/wbob").json
        #expect(sent["conversation"]?["read"] == nil, "\(sent)")
    }

    @Test("Neither the staff nor a device that has signed out gets anything, and an erased person is nobody")
    func staff() async throws {
        try await MessagingWorld.with { world in
            let gateway = world.gateway
            let carl = try await gateway.newSession("wcarl")
            let second = try await gateway.session("wbob")
            try await second.expect(204, "DELETE", "/user/devices/\(second.device)")
            let own = [MessagingWorld.Request("GET", "/user/messages"), MessagingWorld.Request("GET", "/user/statuses")]
            for request in MessagingWorld.requests(about: world.objects) + own {
                let body = request.body.map { String(decoding: $0.data, as: UTF8.self) }
                let place = "\(request.method) \(request.target)"
                let operators = try await gateway.request(request.method, request.target, body: body)
                #expect(operators.status == 403, "\(place): \(operators)")
                let carls = try await carl.request(request.method, request.target, body: body)
                #expect(carls.status == 403, "\(place): \(carls)")
                let late = try await second.request(request.method, request.target, body: request.body)
                #expect(late.status == 401, "\(place): \(late)")
            }
            let erased = try await gateway.request("DELETE", "/account/wann")
            #expect(erased.status == 204, "\(erased)")
            try await eventually("nothing is left") {
                try await world.bob.request("GET", "/user/messages/\(world.objects.picture)/picture").status == 404
            }
            try await expectNothing(for: world.bob, "Bob, after the erasure", in: world)
        }
    }

    @Test("Of somebody whose account is disabled friends see what was written before, and neither the status nor the profile")
    func disabled() async throws {
        try await MessagingWorld.with { world in
            let (gateway, bob, objects) = (world.gateway, world.bob, world.objects)
            let disabled = try await gateway.request("PUT", "/account/wann", body: #"{"disabled":true}"#)
            #expect(disabled.status == 200, "\(disabled)")
            try await bob.expect(404, "GET", "/user/statuses/\(objects.status)/picture")
            try await bob.expect(404, "GET", "/users/wann/picture")
            try await bob.expect(404, "POST", "/user/messages", ["to": "wann", "text": "Hello"])
            let statuses = try await bob.expect(200, "GET", "/user/statuses")
            #expect(!statuses.text.contains("wann"), "\(statuses)")
            let page = try await bob.expect(200, "GET", "/user/conversations/wann")
            #expect(page.text.contains(MessagingWorld.text), "\(page)")
            let picture = try await bob.expect(200, "GET", "/user/messages/\(objects.picture)/picture")
            #expect(picture.body == MessagingWorld.pictures[0])
            try await eventually("the end of the device's token") {
                try await world.ann.request("GET", "/user/status").status == 401
            }
        }
    }

    @Test("A super user sees the message that was reported, and no other; nobody else sees a report")
    func reports() async throws {
        try await MessagingWorld.with { world in
            let (gateway, objects) = (world.gateway, world.objects)
            func report(_ message: String, _ fields: JSONValue) async throws -> (id: String, verdict: String?) {
                let draft: JSONValue = ["message": .string(message), "account": "wann"]
                let made = try await world.bob.expect(201, "POST", "/user/reports", draft.merging(fields))
                return (try #require(made.object["id"] as? String), made.object["verdict"] as? String)
            }
            let text = try await report(objects.message, ["text": .string(MessagingWorld.text)])
            let evidence = try await world.bob.upload(MessagingWorld.pictures[0], "?report=true")
            let picture = try await report(objects.picture, ["picture": .string(evidence)])
            #expect(text.verdict == "genuine" && picture.verdict == "genuine")

            let list = try await gateway.request("GET", "/reports?open=true")
            #expect(try list.status == 200 && list.json["reports"]?.array.count == 2, "\(list)")
            expectNoSecret(in: list, "the list")
            let read = try await gateway.request("GET", "/reports/\(text.id)")
            #expect(read.status == 200 && read.object["text"] as? String == MessagingWorld.text, "\(read)")
            for secret in MessagingWorld.secrets.dropFirst() { #expect(!read.text.contains(secret), "\(read)") }
            let seen = try await gateway.request("GET", "/reports/\(picture.id)/picture")
            #expect(seen.status == 200 && seen.body == MessagingWorld.pictures[0], "\(seen)")
            for id in [text.id, objects.message, objects.picture, objects.status, objects.upload, evidence] {
                let none = try await gateway.request("GET", "/reports/\(id)/picture")
                #expect(none.status == 404, "\(id): \(none)")
                let published = try await gateway.request("GET", "/pictures/\(id).png")
                #expect(published.status == 404, "\(id): \(published)")
            }

            let carl = try await gateway.newSession("wcarl")
            for target in ["/reports", "/reports/\(text.id)", "/reports/\(picture.id)/picture"] {
                #expect(try await carl.request("GET", target).status == 403, "\(target)")
                #expect(try await world.bob.request("GET", target).status == 403, "\(target)")
                #expect(try await gateway.with(token: nil).request("GET", target).status == 401, "\(target)")
            }
            // The messaging service forwards its entries.
            let log = try await eventually("both in the audit log") {
                let log = try await gateway.request("GET", "/audit?action=message_report.read")
                return log.text.contains(text.id) && log.text.contains(picture.id) ? log : nil
            }
            expectNoSecret(in: log, "the audit log")
        }
    }

    @Test("Classmates write to each other only if the operator lets them, and see no statuses", arguments: [false, true])
    func classmates(isOn: Bool) async throws {
        try await RunningGateway.withMessaging(classmates: isOn) { gateway in
            let professor = try await gateway.professor("prof")
            let classID = try await professor.makeClass("Structures")
            let (ann, dora) = (try await gateway.student("wann"), try await gateway.student("wdora"))
            for person in [ann, dora] { try await person.join(classID, by: professor) }
            let picture = try await ann.upload(MessagingWorld.pictures[1])
            let status = try await ann.make("/user/status", ["picture": .string(picture)])
            let draft: JSONValue = ["to": "wdora", "text": .string(MessagingWorld.text)]
            var sent: HTTPAnswer?
            // The gateway waits for the study service only for a moment, which may be too short on a busy machine.
            try await eventually("the answer: \(String(describing: sent))") {
                sent = try await ann.request("POST", "/user/messages", body: draft)
                return sent?.status == (isOn ? 201 : 404)
            }
            let page = try await dora.request("GET", "/user/conversations/wann")
            #expect(page.status == (isOn ? 200 : 404) && page.text.contains(MessagingWorld.text) == isOn, "\(page)")
            let news = try await dora.expect(200, "GET", "/user/messages")
            #expect(news.text.contains(MessagingWorld.text) == isOn, "\(news)")
            let statuses = try await dora.expect(200, "GET", "/user/statuses")
            #expect(!statuses.text.contains("wann"), "\(statuses)")
            try await dora.expect(404, "GET", "/user/statuses/\(status)/picture")

            // The picture of a profile is for those for whom it is, whoever may write.
            let own = try await ann.upload(MessagingWorld.pictures[2])
            try await ann.expect(204, "PUT", "/user/picture", ["picture": .string(own)])
            for (visibility, expected) in [("nobody", 404), ("friends", 404), ("classmates", 200)] {
                try await ann.expect(200, "PUT", "/user/profile", ["visibility": ["picture": .string(visibility)]])
                try await eventually("the picture for \(visibility)") {
                    try await dora.request("GET", "/users/wann/picture").status == expected
                }
            }
            try await dora.expect(204, "DELETE", "/user/classes/\(classID)")
            try await ann.expect(404, "POST", "/user/messages", draft)
            try await dora.expect(404, "GET", "/users/wann/picture")
        }
    }
}
