import Bus
import Schemas
import TestSupport
import Testing
import Base

/// Delays, drills, follow-ups and templates over HTTP, without a relay.
/// The tests run one after another: the database server has a single thread for everything that they start.
@Suite("Message features over HTTP", .serialized, .timeLimit(.minutes(10)))
struct MessageFeatureTests {
    private static func with(
        _ kind: StoreKind, _ body: (_ gateway: RunningGateway, _ path: SamplePath) async throws -> Void
    ) async throws {
        try await RunningGateway.with(database: try await kind.newDatabaseURL()) { gateway in
            try await body(gateway, try await gateway.makeSubject())
        }
    }

    @Test(
        "A delay is counted by the server's clock, and a recall takes the message back before its end",
        arguments: StoreKind.ofRules)
    func delay(_ kind: StoreKind) async throws {
        try await Self.with(kind) { gateway, path in
            let start = UnixMilliseconds.now
            let answer = try await gateway.requestUntilTaken("POST", "/message", body: path.message(and: #""delay":3600"#))
            #expect(answer.status == 201 && answer.object["state"] as? String == "pending")
            let key = try #require(answer.object["msi_key"] as? String)
            let message = try await gateway.message(key)
            #expect(message["delay"] as? Int == 3_600 && message["send_at"] == nil)
            let (due, expires) = (message.relay["next_attempt"] as? Int64 ?? 0, message["expires"] as? Int64 ?? 0)
            let end = UnixMilliseconds.now
            #expect((start.rawValue + 3_600_000...end.rawValue + 3_600_000).contains(due))
            // An Alert's lifetime begins when it goes out.
            #expect((start.rawValue + 90_000_000...end.rawValue + 90_000_000).contains(expires))
            let recalled = try await gateway.request("DELETE", "/message/\(key)")
            #expect(recalled.status == 200 && recalled.object.relay["state"] as? String == "recalled")
        }
    }

    @Test("A drill says so at the start of its title", arguments: StoreKind.ofRules)
    func drill(_ kind: StoreKind) async throws {
        try await Self.with(kind) { gateway, path in
            let answer = try await gateway.requestUntilTaken("POST", "/message", body: path.message(and: #""drill":true"#))
            let message = try await gateway.message(try #require(answer.object["msi_key"] as? String))
            #expect(message["title"] as? String == "[DRILL] t" && message["drill"] as? Bool == true)
            #expect(try await gateway.request("GET", "/message?q=drill").messages.count == 1)
        }
    }

    @Test("Texts of any script may have the seed's lengths, although FCM cannot carry them whole", arguments: StoreKind.ofRules)
    func large(_ kind: StoreKind) async throws {
        try await Self.with(kind) { gateway, path in
            let text = String(repeating: "校", count: 1_500)
            let answer = try await gateway.requestUntilTaken(
                "POST", "/message", body: path.message().replacing(#""m""#, with: #""\#(text)""#))
            #expect(answer.status == 201, "\(answer)")
            let message = try await gateway.message(try #require(answer.object["msi_key"] as? String))
            #expect(message["message"] as? String == text)
        }
    }

    @Test("A message lists its follow-ups, alone and in the history", arguments: StoreKind.ofRules)
    func follows(_ kind: StoreKind) async throws {
        try await Self.with(kind) { gateway, path in
            let storm = try await gateway.post(path.message("storm"))
            let clear = try await gateway.post(path.message(and: #""follows":"\#(storm)""#))
            #expect(try await gateway.message(clear)["follows"] as? String == storm)
            #expect(try await gateway.message(storm)["follow_ups"] as? [String] == [clear])
            let listed = try await gateway.request("GET", "/message").messages
            #expect(listed.map { $0["follow_ups"] as? [String] } == [nil, [clear]])
            let unknown = try await gateway.request("POST", "/message", body: path.message(and: #""follows":"\#(ObjectID())""#))
            #expect(unknown.status == 400 && unknown.object["field"] as? String == "follows", "\(unknown)")
        }
    }

    @Test("A correction needs a message that has gone out", arguments: StoreKind.ofRules)
    func correction(_ kind: StoreKind) async throws {
        try await Self.with(kind) { gateway, path in
            func refusal(_ fields: String, _ name: String) async throws {
                let answer = try await gateway.request("POST", "/message", body: path.message(and: fields))
                #expect(answer.status == 400 && answer.object["field"] as? String == name, "\(fields): \(answer)")
            }
            let waiting = try await gateway.post(path.message(and: #""delay":3600"#))
            try await refusal(#""correction":true"#, "correction")
            try await refusal(#""correction":true,"follows":"\#(ObjectID())""#, "follows")
            try await refusal(#""correction":true,"follows":"\#(waiting)""#, "follows")
            #expect(try await gateway.request("DELETE", "/message/\(waiting)").status == 200)
            try await refusal(#""correction":true,"follows":"\#(waiting)""#, "follows")
        }
    }

    @Test("A message that is partly out can be neither recalled nor corrected, and the answer says to wait")
    func partlyOut() async throws {
        try await withTemporaryFolder { folder in
            try await BusDouble.run("fcm-relay", in: folder) { router in
                router.on(RelayMessage.self) { command, _ in
                    RelayMessage.Reply(
                        components: command.components.map {
                            let later = DeliveryError(.quotaExceeded, retryAfter: 600_000)
                            return ComponentOutcome(component: $0, result: $0 == .notification ? .success("n") : .failure(later))
                        })
                }
            } _: {
                try await RunningGateway.with(in: folder) { gateway in
                    let path = try await gateway.makeSubject()
                    let key = try await gateway.post(path.message())
                    try await eventually("a part is out") {
                        try await gateway.message(key).relay["state"] as? String == "retrying"
                    }
                    #expect(try await gateway.request("DELETE", "/message/\(key)").status == 409)
                    let answer = try await gateway.request(
                        "POST", "/message", body: path.message(and: #""correction":true,"follows":"\#(key)""#))
                    #expect(answer.status == 400 && answer.object["field"] as? String == "follows", "\(answer)")
                    let detail = answer.object["detail"] as? String ?? ""
                    #expect(detail.contains("wait until") && !detail.contains("recall"), "\(detail)")
                }
            }
        }
    }

    @Test("The answers to a recall, a retry and an approval list the follow-ups, and to each caller only those that it may see")
    func followUpsOfAnswers() async throws {
        try await CampusCube.withGateway { gateway, cube in
            let (open, anns) = (SamplePath(cube.open), SamplePath(cube.anns))
            let storm = try await gateway.post(open.message(and: #""delay":3600"#))
            let toAll = try await gateway.post(open.message(and: #""follows":"\#(storm)""#))
            let toAnn = try await gateway.post(anns.message(and: #""follows":"\#(storm)""#))
            let bob = try await gateway.newSession("bob")
            func followUps(_ answer: HTTPAnswer) -> [String]? {
                #expect(answer.status == 200, "\(answer)")
                return answer.object["follow_ups"] as? [String]
            }
            #expect(try await followUps(gateway.request("GET", "/message/\(storm)")) == [toAll, toAnn])
            #expect(try await followUps(bob.request("GET", "/message/\(storm)")) == [toAll])
            let listed = try await bob.request("GET", "/message").messages
            #expect(listed.compactMap { $0["follow_ups"] as? [String] } == [[toAll]])
            #expect(try await followUps(bob.request("DELETE", "/message/\(storm)")) == [toAll])

            let approval = "/approval/\(open.channel)/\(open.area)/\(open.subject)"
            #expect(try await gateway.request("PUT", approval, body: #"{"approval":true}"#).status == 200)
            let held = try await gateway.post(open.message())
            let last = try await gateway.post(anns.message(and: #""follows":"\#(held)""#))
            #expect(try await followUps(bob.request("POST", "/message/\(held)/approve")) == nil)
            #expect(try await followUps(gateway.request("GET", "/message/\(held)")) == [last])
        }
    }

    @Test(
        "A template is kept, filled and sent; a missing or unknown value is refused by its name",
        arguments: StoreKind.ofRules)
    func templates(_ kind: StoreKind) async throws {
        try await Self.with(kind) { gateway, path in
            let room = #"{"name":"Room","title":"Moved to {{room}}","desc":"{{when}}","message":"{{room}}, {{when}}"}"#
            let added = try await gateway.request("POST", "/template", body: room)
            #expect(added.status == 201 && added.object["urgent"] as? Bool == false)
            let id = try #require(added.object["_id"] as? String)
            #expect(added["location"] == "/template/\(id)")
            let twice = try await gateway.request("POST", "/template", body: room)
            #expect(twice.status == 409 && twice.object["field"] as? String == "name")
            let misspelt = try await gateway.request("POST", "/template", body: room.replacing("{{when}}", with: "{{the time}}"))
            #expect(misspelt.status == 400 && misspelt.object["field"] as? String == "desc")

            func post(_ fields: String, key: String? = nil) async throws -> HTTPAnswer {
                try await gateway.request(
                    "POST", "/message", headers: key.map { ["Idempotency-Key": $0] } ?? [:],
                    body: #"{"topic_key":"\#(path.topicKey)","distribution":"Alert",\#(fields)}"#)
            }
            let values = #""template":"\#(id)","values":{"room":"B 12","when":"today"}"#
            let first = try await post(values, key: "k")
            let message = try await gateway.message(try #require(first.object["msi_key"] as? String))
            #expect(message["title"] as? String == "Moved to B 12" && message["desc"] as? String == "today")
            #expect(message["message"] as? String == "B 12, today" && message["template"] as? String == id)
            for (fields, name) in [
                (#""template":"\#(id)","values":{"room":"B 12"}"#, "values.when"), (values + #","title":"t""#, "title"),
                (#""template":"\#(id)","values":{"room":"B","when":"t","who":"x"}"#, "values.who"),
                (#""template":"\#(ObjectID())""#, "template"),
            ] {
                let refused = try await post(fields)
                #expect(refused.status == 400 && refused.object["field"] as? String == name, "\(fields): \(refused)")
            }

            // A retry gets the first answer, even if the template has changed or is gone.
            let urgent = room.replacing("Moved", with: "Now").replacing("}}\"}", with: "}}\",\"urgent\":true}")
            let updated = try await gateway.request("PUT", "/template/\(id)", body: urgent)
            #expect(updated.status == 200 && updated.object["urgent"] as? Bool == true)
            let again = try await post(values, key: "k")
            #expect(again.status == 201 && again.body == first.body && again["idempotency-replayed"] == "true")
            // The sender has seen another text.
            for (revision, status) in [(1, 409), (2, 201)] {
                let answer = try await post(values + #","template_revision":\#(revision)"#)
                #expect(answer.status == status, "\(answer)")
                if status == 409 { #expect(answer.object["field"] as? String == "template_revision") }
            }
            #expect(try await gateway.request("DELETE", "/template/\(id)").status == 204)
            #expect(try await post(values, key: "k").body == first.body)
            let other = try await post(values.replacing("today", with: "tomorrow"), key: "k")
            #expect(other.status == 422 && other.problem == "idempotency-key-reused")
            #expect(try await gateway.request("GET", "/template").text == #"{"items":[]}"#)
        }
    }
}

extension RunningGateway {
    /// Posts a message.
    ///
    /// - Returns: Its `msi_key`.
    func post(_ body: String) async throws -> String {
        let answer = try await requestUntilTaken("POST", "/message", body: body)
        #expect(answer.status == 201, "\(answer)")
        return try #require(answer.object["msi_key"] as? String)
    }

    func message(_ msiKey: String) async throws -> [String: Any] {
        let answer = try await requestUntilTaken("GET", "/message/\(msiKey)")
        #expect(answer.status == 200, "\(answer)")
        return answer.object
    }
}

extension HTTPAnswer {
    /// The messages of a page.
    var messages: [[String: Any]] { object["messages"] as? [[String: Any]] ?? [] }
}

extension [String: Any] {
    /// The relay record of a message.
    fileprivate var relay: [String: Any] { self["relay"] as? [String: Any] ?? [:] }
}
