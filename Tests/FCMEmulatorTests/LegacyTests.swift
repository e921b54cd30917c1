import Foundation
import NIOHTTP1
import Testing
import TestSupport

/// The legacy HTTP API.
@Suite("The legacy API") struct LegacyTests {
    @Test("Messages of the legacy API reach phones by token, topic and condition") func delivery() async throws {
        try await withEmulator { client in
            let (ann, bob) = (try await client.registerPhone(), try await client.registerPhone())
            try await client.subscribe([ann, bob], to: "t")
            var stream = try await client.listen(ann)
            let body =
                #"{"to":"\#(ann)","priority":"high","time_to_live":600,"collapse_key":"c","content_available":true,"#
                + #""notification":{"title":"Hi","body":"there","sound":"default","click_action":"OPEN","android_channel_id":"news"},"#
                + #""data":{"msi_key":"k","nested":{"a":[1]},"number":7},"unknown":1}"#
            let single = try await client.legacy(body)
            #expect(single.status == 200)
            #expect(single.object["success"] as? Int == 1 && single.object["failure"] as? Int == 0)
            #expect(single.object["canonical_ids"] as? Int == 0 && single.object["multicast_id"] is Int)
            let id = (single.object["results"] as? [[String: String]])?.first?["message_id"]
            let event = try await stream.next()
            #expect(event["messageId"] as? String == id)
            #expect(event.data == ["msi_key": "k", "nested": #"{"a":[1]}"#, "number": "7"])
            #expect(
                event.notification == [
                    "title": "Hi", "body": "there", "sound": "default", "click_action": "OPEN", "channel_id": "news",
                ])
            #expect(
                event["ttl"] as? Int == 600 && event["priority"] as? String == "high" && event["collapseKey"] as? String == "c")
            // Archived unchanged.
            #expect(try await client.call(.GET, "/emulator/messages", token: nil).text.contains("\"body\":\(body)}"))
            #expect(try await client.call(.GET, "/emulator/counts?msi_key=k", token: nil).object["notification"] as? Int == 1)

            let topic = try await client.legacy(#"{"to":"/topics/t","data":{"mark":"topic"}}"#)
            #expect(topic.object.keys.sorted() == ["message_id"] && topic.object["message_id"] is Int)
            let condition = try await client.legacy(#"{"condition":"'t' in topics","data":{"mark":"condition"}}"#)
            #expect(condition.object["message_id"] is Int)
            let dry = try await client.legacy(#"{"to":"\#(ann)","dry_run":true,"data":{"mark":"dry"}}"#)
            #expect(dry.text.contains(#""results":[{"message_id":"fake_message_id"}]"#))
            #expect(try await stream.marks(2) == ["topic", "condition"])
            #expect(try await client.everything(for: bob) == ["topic", "condition"])
        }
    }

    @Test("Each token has its own result in the form of the legacy API") func results() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let unknown = "abcdefghijklmnopqrstuv:APA91b" + String(repeating: "x", count: 134)
            let many = try await client.legacy(#"{"registration_ids":["\#(phone)","\#(unknown)","nonsense"],"data":{"a":"b"}}"#)
            #expect(many.object["success"] as? Int == 1 && many.object["failure"] as? Int == 2)
            let results = many.object["results"] as? [[String: String]] ?? []
            #expect(results.map { $0["error"] } == [nil, "NotRegistered", "InvalidRegistration"])

            for (fields, error) in [
                (#""data":{"from":"x"}"#, "InvalidDataKey"), (#""time_to_live":2419201"#, "InvalidTtl"),
                (#""data":{"a":"\#(String(repeating: "x", count: 4_096))"}"#, "MessageTooBig"),
                (#""notification":{"color":"red"}"#, "InvalidParameters"),
            ] {
                let answer = try await client.legacy("{\"to\":\"\(phone)\",\(fields)}")
                #expect(answer.status == 200)
                #expect((answer.object["results"] as? [[String: String]])?.first?["error"] == error, "\(answer.text)")
            }
            #expect(try await client.legacy(#"{"to":"/topics/a b"}"#).text == #"{"error":"InvalidParameters"}"#)
        }
    }

    @Test("An invalid call, or one without the key, is refused as a whole") func refusals() async throws {
        try await withEmulator { client in
            let tooMany = Array(repeating: "\"x\"", count: 1_001).joined(separator: ",")
            for (body, text) in [
                ("{", "JSON_PARSING_ERROR"), ("{}", "to"), (#"{"registration_ids":[]}"#, "cannot be empty"),
                (#"{"to":"a","registration_ids":["b"]}"#, "not both"), ("{\"registration_ids\":[\(tooMany)]}", "(1001)"),
                (#"{"to":"a","data":"x"}"#, "data"), (#"{"to":"a","time_to_live":"soon"}"#, "time_to_live"),
            ] {
                let answer = try await client.legacy(body)
                #expect(answer.status == 400 && answer.text.contains(text), "\(answer.text)")
            }
            #expect(try await client.legacy(#"{"to":"/topics/t"}"#, key: "key=wrong").status == 401)
            #expect(try await client.legacy(#"{"to":"/topics/t"}"#, key: nil).status == 401)
            let key = try client.folder.text(of: "server-key.txt").trimmingCharacters(in: .newlines)
            #expect(try client.folder.mode(of: "server-key.txt") == 0o600)
            #expect(try await client.legacy(#"{"to":"/topics/t"}"#, key: "key=\(key)").status == 200)
        }
    }

    @Test("Quotas and injected faults are answered in the form of the legacy API") func faults() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let direct = #"{"to":"\#(phone)","data":{"a":"b"}}"#
            for (rule, status, text) in [
                ("UNREGISTERED", 200, #""results":[{"error":"NotRegistered"}]"#),
                ("SENDER_ID_MISMATCH", 200, #""error":"MismatchSenderId""#),
                ("QUOTA_EXCEEDED", 200, #""error":"DeviceMessageRateExceeded""#), ("UNAVAILABLE", 503, ""),
                ("UNAUTHENTICATED", 401, ""),
            ] {
                try await client.fault(#"{"fault":"\#(rule)"}"#)
                let answer = try await client.legacy(direct)
                #expect(answer.status == status && (text.isEmpty || answer.text.contains(text)), "\(rule): \(answer.text)")
            }
            try await client.fault()
            _ = try await client.call(
                .PUT, "/emulator/quotas", token: nil,
                #"{"topic":[{"most":1,"every_ms":3600000}],"project":[{"most":2,"every_ms":3600000}]}"#)
            #expect(try await client.legacy(#"{"to":"/topics/t"}"#).object["message_id"] is Int)
            #expect(try await client.legacy(#"{"to":"/topics/t"}"#).text == #"{"error":"TopicsMessageRateExceeded"}"#)
            #expect(try await client.legacy(direct).status == 200)
            let exceeded = try await client.legacy(direct)
            #expect(exceeded.status == 429 && exceeded.headers.contains(name: "Retry-After"))
        }
    }
}

extension EmulatorClient {
    fileprivate func legacy(_ body: String, key: String? = "key=owner") async throws -> HTTPAnswer {
        try await call(
            .POST, "/fcm/send", headers: key.map { [("Authorization", $0)] } ?? [], body: Array(body.utf8))
    }
}
