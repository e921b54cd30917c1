import Schemas
import ServiceKit
import TestSupport
import Testing
import Base

/// Messages that a second person must approve, over HTTP.
/// The tests run one after another: the database server has a single thread for everything that they start.
@Suite("Approval over HTTP", .serialized, .timeLimit(.minutes(10)))
struct ApprovalOverHTTPTests {
    @Test(
        "A message to a subject with approval is held until another account with access to the subject approves it",
        arguments: StoreKind.ofRules)
    func approval(_ kind: StoreKind) async throws {
        try await RunningGateway.with(database: try await kind.newDatabaseURL()) { gateway in
            let path = try await gateway.makeSubject()
            try await gateway.requireApproval(of: path)
            let (ann, ben, eve) = try await (gateway.newSession("ann"), gateway.newSession("ben"), gateway.newSession("eve"))
            let access = try await gateway.request("PUT", "/access/\(path.channel)", body: #"{"access":["ann","ben"]}"#)
            #expect(access.status == 200)

            let key = ["Idempotency-Key": "k"]
            let posted = try await ann.request("POST", "/message", headers: key, body: path.message())
            #expect(posted.status == 201 && posted.object["state"] as? String == "held")
            let id = try #require(posted.object["msi_key"] as? String)
            let approve = "/message/\(id)/approve"
            // The gateway may learn of the new list a moment later.
            try await eventually { try await eve.request("POST", approve).status == 404 }
            #expect(try await ann.request("POST", approve).problem == "forbidden")
            #expect(try await ben.request("POST", "/message/\(ObjectID())/approve").status == 404)
            // A script of ben's is not a second person, and neither is the operator's.
            try await ben.confirm()
            let script = gateway.with(token: try await ben.makeToken(["read", "send"]))
            for refused in [try await script.request("POST", approve), try await gateway.request("POST", approve)] {
                #expect(refused.status == 403 && refused.text.contains("second person"), "\(refused)")
            }
            #expect(try await ben.request("GET", "/message?state=held").object["messages"] as? [[String: Any]] != nil)

            let approved = try await ben.request("POST", approve)
            #expect(approved.status == 200, "\(approved)")
            let trace = (approved.object["relay"] as? [String: Any])?["trace"] as? [[String: Any]]
            #expect(trace?.map { $0["by"] as? String } == ["ben"] && trace?.map { $0["action"] as? String } == ["approve"])
            #expect(try await ben.request("POST", approve).status == 409)
            // A retry of the post gets the first answer.
            let again = try await ann.request("POST", "/message", headers: key, body: path.message())
            #expect(again.status == 201 && again.body == posted.body && again["idempotency-replayed"] == "true")
        }
    }

    @Test("A message is rejected with a reason, which its sender sees; a wrong body is refused and changes nothing")
    func rejection() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            try await gateway.requireApproval(of: path)
            let (ann, ben) = try await (gateway.newSession("ann"), gateway.newSession("ben"))
            func held() async throws -> String {
                let posted = try await ann.request("POST", "/message", body: path.message())
                let id = try #require(posted.object["msi_key"] as? String, "\(posted)")
                return "/message/\(id)"
            }
            let message = try await held()
            let long = String(repeating: "x", count: 501)
            for (body, field) in [
                (#"{"reason":""}"#, "reason"), (#"{"reason":7}"#, "reason"), (#"{"reason":"\#(long)"}"#, "reason"),
                (#"{"why":"x"}"#, "why"), ("[]", nil), ("wrong room", nil),
            ] as [(String, String?)] {
                let answer = try await ben.request("DELETE", message, body: body)
                #expect(answer.status == 400 && answer.object["field"] as? String == field, "\(body): \(answer)")
            }
            let answer = try await ben.request("DELETE", message, body: #"{"reason":"The room is wrong."}"#)
            #expect(answer.status == 200, "\(answer)")
            let seen = try await ann.request("GET", message).object["relay"] as? [String: Any]
            #expect(seen?["state"] as? String == "recalled")
            let trace = seen?["trace"] as? [[String: Any]]
            #expect(trace?.first?["reason"] as? String == "The room is wrong." && trace?.first?["by"] as? String == "ben")
            // One that its sender takes back is not rejected.
            #expect(try await ann.request("DELETE", try await held()).status == 200)
            let rejected = try await ann.request("GET", "/message?state=rejected").object["messages"] as? [[String: Any]]
            #expect(rejected?.map { "/message/\($0["msi_key"] ?? "")" } == [message])
            for body in [nil, "", "{}"] {
                let answer = try await ben.request("DELETE", try await held(), body: body)
                let relay = answer.object["relay"] as? [String: Any]
                let entry = (relay?["trace"] as? [[String: Any]])?.first
                #expect(answer.status == 200 && entry?["action"] as? String == "recall" && entry?["reason"] == nil, "\(answer)")
            }
        }
    }

    @Test("A held message keeps its time after the approval, and a super user's own message needs another account as well")
    func times() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            try await gateway.requireApproval(of: path)
            let (ann, root) = try await (gateway.newSession("ann"), gateway.newSession("root", "super_user"))
            let sendAt = UnixMilliseconds.now + .seconds(3_600)
            let posted = try await root.request("POST", "/message", body: path.message(and: #""send_at":\#(sendAt)"#))
            let own = try #require(posted.object["msi_key"] as? String, "\(posted)")
            #expect(try await root.request("POST", "/message/\(own)/approve").problem == "forbidden")
            let approved = try await ann.request("POST", "/message/\(own)/approve")
            let relay = try #require(approved.object["relay"] as? [String: Any])
            #expect(relay["state"] as? String == "pending" && relay["next_attempt"] as? Int64 == sendAt.rawValue)
        }
    }
}

extension RunningGateway {
    /// Requires an approval of messages to a subject.
    fileprivate func requireApproval(of path: SamplePath) async throws {
        let answer = try await request(
            "PUT", "/approval/\(path.channel)/\(path.area)/\(path.subject)", body: #"{"approval":true}"#)
        #expect(answer.status == 200, "\(answer)")
    }
}
