import Foundation
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// Broadcasts over HTTP, with the real services behind the gateway.
@Suite("Broadcasts over HTTP", .timeLimit(.minutes(10)))
struct BroadcastsOverHTTPTests {
    private static func body(_ members: String = #""type":1,"expiry":60"#, title: String = "Maintenance") -> String {
        "{\(members),\"actiondata\":{\"translations\":{\"en\":{\"title\":\"\(title)\",\"msg\":\"m\"}}}}"
    }

    private func ids(_ answer: HTTPAnswer, _ list: String = "broadcasts") -> [Int] {
        (answer.object[list] as? [[String: Any]] ?? []).compactMap { $0["id"] as? Int }
    }

    @Test("A broadcast is sent, read, edited and withdrawn, and phones see each change at once")
    func life() async throws {
        try await RunningGateway.with { gateway in
            let phone = gateway.with(token: nil)
            #expect(ids(try await phone.request("GET", "/broadcast/active")).isEmpty)
            let added = try await gateway.request("POST", "/broadcast", body: Self.body())
            #expect(added.status == 201 && added["location"] == "/broadcast/1" && added["etag"] == "\"v1\"", "\(added)")
            #expect(added.object["state"] as? String == "active" && added.object["sender"] is String)
            let active = try await phone.request("GET", "/broadcast/active")
            #expect(ids(active) == [1], "\(active)")
            let shown = try #require((active.object["broadcasts"] as? [[String: Any]])?.first)
            #expect(
                Set(shown.keys) == ["id", "type", "epoch", "expiry", "actiondata", "language", "starts", "expires", "version"])
            let tag = try #require(active["etag"])
            let unchanged = try await phone.request("GET", "/broadcast/active", headers: ["If-None-Match": tag])
            #expect(unchanged.status == 304)

            let edited = try await gateway.request(
                "PUT", "/broadcast/1", headers: ["If-Match": "\"v1\""], body: Self.body(title: "Longer"))
            #expect(edited.status == 200 && edited.object["version"] as? Int == 2, "\(edited)")
            for (tag, title) in [("W/\"v1\"", "Other"), ("\"v99\"", "Longer")] {
                let late = try await gateway.request(
                    "PUT", "/broadcast/1", headers: ["If-Match": tag], body: Self.body(title: title))
                #expect(late.status == 412, "\(late)")
            }
            #expect(try await phone.request("GET", "/broadcast/active", headers: ["If-None-Match": tag]).status == 200)

            let withdrawn = try await gateway.request("DELETE", "/broadcast/1")
            #expect(withdrawn.status == 200 && withdrawn.object["state"] as? String == "withdrawn", "\(withdrawn)")
            let after = try await phone.request("GET", "/broadcast/active")
            #expect(ids(after).isEmpty && ids(after, "withdrawn") == [1])
            #expect(ids(try await gateway.request("GET", "/broadcast"), "items") == [1])
            #expect(ids(try await gateway.request("GET", "/broadcast?state=active"), "items").isEmpty)
            #expect(try await gateway.request("GET", "/broadcast/2").status == 404)
            #expect(try await gateway.request("GET", "/broadcast/x").object["field"] as? String == "id")
        }
    }

    @Test("A downtime may go without a pop-up, and no other type has one")
    func popup() async throws {
        try await RunningGateway.with { gateway in
            func body(_ type: Int, _ popup: String) -> String {
                "{\"type\":\(type),\"expiry\":60,\"actiondata\":{\"popup\":\(popup),"
                    + "\"translations\":{\"en\":{\"title\":\"a\",\"msg\":\"m\"}}}}"
            }
            let without = try await gateway.request("POST", "/broadcast", body: body(1, "false"))
            #expect(without.status == 201, "\(without)")
            #expect((without.object["actiondata"] as? [String: Any])?["popup"] as? Bool == false)
            for wrong in [body(2, "true"), body(1, "\"yes\"")] {
                let refused = try await gateway.request("POST", "/broadcast", body: wrong)
                #expect(refused.status == 400 && refused.object["field"] as? String == "actiondata.popup", "\(refused)")
            }
        }
    }

    @Test("The seeds' forms are accepted, and given by their names")
    func forms() async throws {
        try await RunningGateway.with { gateway in
            let display = """
                {"actiontype":"display","notificationtype":"festive","notificationid":"1235","expiry":"3600000millis",
                 "type":"non-cancellable","poster":"","fields":[{"language":"en","title":"Eid Mubarak","msg":"To all"}]}
                """
            let added = try await gateway.request("POST", "/broadcast", body: display)
            #expect(added.status == 201 && added.object["id"] as? Int == 1_235 && added.object["type"] as? Int == 3, "\(added)")
            #expect(added.object["expiry"] as? Int == 60)
            let again = try await gateway.request("GET", "/broadcast/1235/display")
            #expect(again.object["notificationid"] as? String == "1235" && again.object["type"] as? String == "non-cancellable")
            #expect(again.object["expiry"] as? String == "3600000millis", "\(again)")
            let same = try await gateway.request("PUT", "/broadcast/1235", body: again.text)
            #expect(same.status == 200 && same["etag"] == "\"v1\"", "\(same)")
            let agreed = try await gateway.request("GET", "/broadcast/1235/agreed")
            #expect(Set(agreed.object.keys) == ["id", "type", "epoch", "expiry", "actiondata"], "\(agreed)")
            #expect(try await gateway.request("GET", "/broadcast/1235/non-display").object["field"] as? String == "form")
            #expect(try await gateway.request("GET", "/broadcast/1235/xml").status == 400)
        }
    }

    @Test("Errors say what is wrong, and name it as the request has it")
    func errors() async throws {
        try await RunningGateway.with { gateway in
            func problem(_ body: String, key: String? = nil) async throws -> (status: Int, field: String?, detail: String) {
                let headers = key.map { ["Idempotency-Key": $0] } ?? [:]
                let answer = try await gateway.request("POST", "/broadcast", headers: headers, body: body)
                return (answer.status, answer.object["field"] as? String, answer.object["detail"] as? String ?? "")
            }
            #expect(try await problem(Self.body(), key: "k").status == 201)
            #expect(try await problem(Self.body(), key: "k").status == 201)
            let reused = try await problem(Self.body(title: "Other"), key: "k")
            #expect(reused.status == 422 && reused.field == "Idempotency-Key", "\(reused)")
            let german = """
                {"actiontype":"display","notificationtype":"general","expiry":"60000millis",
                 "fields":[{"language":"de","title":"a","msg":"b"}]}
                """
            let missing = try await problem(german)
            #expect(missing.status == 400 && missing.field == "fields" && missing.detail.contains("en"), "\(missing)")
            let broken = try await problem("not json")
            #expect(broken.status == 400 && broken.detail.contains("not valid JSON: expected a value"), "\(broken)")
        }
    }

    @Test("Channels: only their phones see it, and an unknown one is refused by its place")
    func channels() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let channel = "\(path.channel)"
            let some = try await gateway.request(
                "POST", "/broadcast", body: Self.body("\"type\":1,\"expiry\":60,\"channels\":[\"\(channel)\"]"))
            #expect(some.status == 201, "\(some)")
            let all = try await gateway.request("POST", "/broadcast", body: Self.body())
            #expect(all.status == 201)
            let phone = gateway.with(token: nil)
            #expect(ids(try await phone.request("GET", "/broadcast/active")) == [2])
            #expect(ids(try await phone.request("GET", "/broadcast/active?channel=\(channel)")) == [1, 2])
            #expect(ids(try await phone.request("GET", "/broadcast/active?channel=5a0187feff0dafac2833f401")) == [2])
            #expect(try await phone.request("GET", "/broadcast/active?channel=x").object["field"] as? String == "channel")
            let unknown = try await gateway.request(
                "POST", "/broadcast", body: Self.body(#""type":1,"expiry":60,"channels":["5a0187feff0dafac2833f401"]"#))
            #expect(unknown.status == 400 && unknown.object["field"] as? String == "channels[0]", "\(unknown)")
        }
    }

    @Test("An edit takes a broadcast from the phones that it is not for any more")
    func movedAudience() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            #expect(try await gateway.request("POST", "/broadcast", body: Self.body()).status == 201)
            let narrowed = Self.body("\"type\":1,\"expiry\":60,\"channels\":[\"\(path.channel)\"]")
            #expect(try await gateway.request("PUT", "/broadcast/1", body: narrowed).status == 200)
            let phone = gateway.with(token: nil)
            #expect(ids(try await phone.request("GET", "/broadcast/active?channel=\(path.channel)")) == [1])
            let other = try await phone.request("GET", "/broadcast/active")
            #expect(ids(other).isEmpty && ids(other, "withdrawn") == [1], "\(other)")
            #expect((other.object["withdrawn"] as? [[String: Any]])?.first?["version"] as? Int == 1)
        }
    }

    @Test("Phones' answers have the same entity tag while nothing changes for them")
    func tags() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let phone = gateway.with(token: nil)
            #expect(try await gateway.request("POST", "/broadcast", body: Self.body()).status == 201)
            let tag = try #require(try await phone.request("GET", "/broadcast/active")["etag"])
            // The list says when it was pushed, which happens by itself.
            try await eventually("the push") {
                let items = try await gateway.request("GET", "/broadcast").object["items"] as? [[String: Any]]
                return (items?.first?["pushed"] as? [String: Any])?["count"] as? Int == 1
            }
            let list = try await eventually("a list that stays the same") {
                let tag = try #require(try await gateway.request("GET", "/broadcast")["etag"])
                return try await gateway.request("GET", "/broadcast", headers: ["If-None-Match": tag]).status == 304 ? tag : nil
            }
            // For other phones.
            let other = Self.body("\"type\":1,\"expiry\":60,\"channels\":[\"\(path.channel)\"]")
            #expect(try await gateway.request("POST", "/broadcast", body: other).status == 201)
            let unchanged = try await phone.request("GET", "/broadcast/active", headers: ["If-None-Match": tag])
            #expect(unchanged.status == 304, "\(unchanged)")
            #expect(try await gateway.request("GET", "/broadcast", headers: ["If-None-Match": list]).status == 200)
        }
    }

    @Test("Feature switches are listed by feature, the last one at the end")
    func features() async throws {
        try await RunningGateway.with { gateway in
            for (feature, way, share) in [
                ("b", "enable-feature", 10), ("a", "enable-feature", 50), ("b", "disable-feature", 100),
            ] {
                let body = """
                    {"type":4,"expiry":60,"actiondata":{"notificationtype":"\(way)","feature":"\(feature)","share":\(share)}}
                    """
                let added = try await gateway.request("POST", "/broadcast", body: body)
                #expect(added.status == 201, "\(added)")
            }
            let answer = try await gateway.with(token: nil).request("GET", "/broadcast/features")
            let features = answer.object["features"] as? [[String: Any]] ?? []
            #expect(features.compactMap { $0["feature"] as? String } == ["a", "b", "b"], "\(answer)")
            #expect(features.compactMap { $0["enabled"] as? Bool } == [true, true, false])
            #expect(features.compactMap { $0["broadcast"] as? Int } == [2, 1, 3])
        }
    }

    @Test(
        "While the broadcast service is away phones get the last answer, messages are accepted, and a broadcast is refused with 503"
    )
    func away() async throws {
        try await withTemporaryFolder { folder in
            let others = ServiceEntry.gateway.startDependencies.map(\.executable).filter { $0 != "msi-broadcast" }
            try await RunningGateway.withServices(others[...], in: folder) {
                try await withService("msi-broadcast", in: folder) { broadcast in
                    try await RunningGateway.with(services: [], in: folder) { gateway in
                        #expect(try await gateway.request("POST", "/broadcast", body: Self.body()).status == 201)
                        #expect(ids(try await gateway.request("GET", "/broadcast/active")) == [1])
                        await broadcast.kill()
                        #expect(ids(try await gateway.with(token: nil).request("GET", "/broadcast/active")) == [1])
                        let refused = try await gateway.request("POST", "/broadcast", body: Self.body())
                        #expect(refused.status == 503, "\(refused)")
                    }
                    // As after a restart of the machine for which the broadcast was.
                    try await RunningGateway.with(services: [], in: folder) { gateway in
                        #expect(ids(try await gateway.with(token: nil).request("GET", "/broadcast/active")) == [1])
                        let health = try await gateway.request("GET", "/health")
                        #expect(health.status == 200 && health.object["status"] as? String == "degraded", "\(health)")
                        let path = try await gateway.makeSubject()
                        _ = try await gateway.post(path.message("works"))
                    }
                }
            }
        }
    }
}
