import Schemas
import TestSupport
import Testing
import Base

/// Edits of messages that have not gone out, over HTTP.
/// The tests run one after another: the database server has a single thread for everything that they start.
@Suite("Edits over HTTP", .serialized, .timeLimit(.minutes(10)))
struct EditOverHTTPTests {
    @Test(
        "A scheduled message is moved and reworded in one request, and the history and the search follow",
        arguments: StoreKind.ofRules)
    func edit(_ kind: StoreKind) async throws {
        try await RunningGateway.with(database: try await kind.newDatabaseURL()) { gateway in
            let path = try await gateway.makeSubject()
            let (first, then) = (UnixMilliseconds.now + .seconds(3_600), UnixMilliseconds.now + .seconds(7_200))
            let key = ["Idempotency-Key": "k"]
            let body = path.message(and: #""send_at":\#(first)"#)
            let posted = try await gateway.request("POST", "/message", headers: key, body: body)
            let target = "/message/" + (posted.object["msi_key"] as? String ?? "")
            let before = try await gateway.request("GET", target).object
            let edit = path.message("Fog").dropLast() + #","send_at":\#(then),"ttl":60,"drill":true}"#
            let answer = try await gateway.request("PUT", target, body: String(edit))
            #expect(answer.status == 200, "\(answer)")
            #expect(answer.object["title"] as? String == "[DRILL] Fog" && answer.object["drill"] as? Bool == true)
            #expect(answer.object["send_at"] as? Int64 == then.rawValue && answer.object["ttl"] as? Int == 60)
            #expect(answer.object["expires"] as? Int64 == then.rawValue + 60_000)
            #expect(answer.object["timestamp"] as? Int64 == before["timestamp"] as? Int64)
            #expect(answer.relay["state"] as? String == "pending" && answer.relay["next_attempt"] as? Int64 == then.rawValue)
            let trace = answer.relay["trace"] as? [[String: Any]]
            #expect(trace?.map { $0["action"] as? String } == ["edit"] && trace?.map { $0["by"] as? String } == ["admin"])
            #expect(try await gateway.request("GET", "/message?q=fog").messages.count == 1)
            #expect(try await gateway.request("GET", "/message?q=t").messages.isEmpty)

            // A retry of the post gets the first answer.
            let again = try await gateway.request("POST", "/message", headers: key, body: body)
            #expect(again.status == 201 && again.body == posted.body && again["idempotency-replayed"] == "true")
            // Another post with its key does not.
            let elsewhere = try await gateway.makeSubject().message()
            for other in [elsewhere, path.message(and: #""follows":"\#(target.dropFirst("/message/".count))""#)] {
                let answer = try await gateway.request("POST", "/message", headers: key, body: other)
                #expect(answer.status == 422 && answer.problem == "idempotency-key-reused", "\(answer)")
            }
            #expect(try await gateway.request("DELETE", target).status == 200)
            let late = try await gateway.request("PUT", target, body: body)
            #expect(late.status == 409 && late.text.contains("recalled"), "\(late)")
        }
    }

    @Test("The topic may be left out; a delay counts from the edit; wrong fields are named, and change nothing")
    func fields() async throws {
        try await RunningGateway.with { gateway in
            let (path, other) = (try await gateway.makeSubject(), try await gateway.makeSubject())
            let key = try await gateway.post(path.message(and: #""delay":3600"#))
            let target = "/message/\(key)"
            let stored = try await gateway.request("GET", target).text
            for (body, status, field) in [
                (other.message(and: #""delay":60"#), 400, "topic_key"),
                (path.message(distribution: "Information"), 400, "distribution"),
                (path.message(and: #""follows":"\#(key)""#), 400, "follows"),
                (path.message(and: #""follows":"\#(key)","correction":true"#), 400, "follows"),
                (path.message(and: #""msi_key":"\#(key)""#), 400, "msi_key"),
                (path.message(""), 400, "title"), (path.message(and: #""send_at":1000"#), 400, "send_at"), ("", 400, nil),
                ("[]", 400, nil), (#"{"title":"t"}"#, 400, "distribution"),
            ] as [(String, Int, String?)] {
                let answer = try await gateway.request("PUT", target, body: body)
                #expect(answer.status == status && answer.object["field"] as? String == field, "\(body): \(answer)")
            }
            #expect(try await gateway.request("GET", target).text == stored)

            let start = UnixMilliseconds.now
            let body = #"{"title":"new","desc":"d","message":"m","distribution":"Alert","delay":600}"#
            let answer = try await gateway.request("PUT", target, body: body)
            #expect(answer.status == 200 && answer.object["title"] as? String == "new", "\(answer)")
            let sendAt = answer.object["send_at"] as? Int64 ?? 0
            #expect(answer.object["delay"] == nil)
            #expect((start.rawValue + 600_000...UnixMilliseconds.now.rawValue + 600_000).contains(sendAt))

            // Who has lost the answer repeats the request. Another delay is another edit.
            let again = try await gateway.request("PUT", target + "?edited=0", body: body)
            #expect(again.status == 200 && again.object["send_at"] as? Int64 == sendAt, "\(again)")
            #expect((again.relay["trace"] as? [[String: Any]])?.count == 1)
            let later = try await gateway.request(
                "PUT", target + "?edited=0", body: body.replacing("600", with: "700"))
            #expect(later.status == 409 && later.object["field"] as? String == "edited", "\(later)")
            // Also of one that has gone out since.
            let now = #"{"title":"now","desc":"d","message":"m","distribution":"Alert"}"#
            #expect(try await gateway.request("PUT", target, body: now).status == 200)
            let repeated = try await gateway.request("PUT", target, body: now)
            #expect(repeated.status == 200 && (repeated.relay["trace"] as? [[String: Any]])?.count == 2, "\(repeated)")
        }
    }

    @Test(
        "Whoever may send to the subject may edit; an editor cannot approve, and an approver names the edit that was seen",
        arguments: StoreKind.ofRules)
    func approval(_ kind: StoreKind) async throws {
        try await RunningGateway.with(database: try await kind.newDatabaseURL()) { gateway in
            let path = try await gateway.makeSubject()
            let approval = "/approval/\(path.channel)/\(path.area)/\(path.subject)"
            #expect(try await gateway.request("PUT", approval, body: #"{"approval":true}"#).status == 200)
            let access = try await gateway.request("PUT", "/access/\(path.channel)", body: #"{"access":["ann","ben","carl"]}"#)
            #expect(access.status == 200)
            let (ann, ben) = try await (gateway.newSession("ann"), gateway.newSession("ben"))
            let (carl, eve) = try await (gateway.newSession("carl"), gateway.newSession("eve"))
            let posted = try await ann.request("POST", "/message", body: path.message("old"))
            let target = "/message/" + (posted.object["msi_key"] as? String ?? "")
            // The gateway may learn of the new list a moment later.
            try await eventually { try await eve.request("PUT", target, body: path.message("eve's")).status == 404 }
            let edited = try await ben.request("PUT", target + "?edited=0", body: path.message("ben's"))
            #expect(edited.status == 200 && edited.relay["state"] as? String == "held", "\(edited)")
            let trace = edited.relay["trace"] as? [[String: Any]]
            let time = try #require(trace?.first?["at"] as? Int64)
            let second = try await ann.request("PUT", target + "?edited=0", body: path.message("ann's"))
            #expect(second.status == 409 && second.object["field"] as? String == "edited", "\(second)")

            let approve = target + "/approve"
            #expect(try await ben.request("POST", approve + "?edited=\(time)").status == 403)
            let unseen = try await carl.request("POST", approve)
            #expect(unseen.status == 409 && unseen.text.contains("edited=\(time)"), "\(unseen)")
            let approved = try await carl.request("POST", approve + "?edited=\(time)")
            #expect(approved.status == 200 && approved.object["title"] as? String == "ben's", "\(approved)")
        }
    }
}

extension HTTPAnswer {
    /// The relay record of a message.
    fileprivate var relay: [String: Any] { object["relay"] as? [String: Any] ?? [:] }
}
