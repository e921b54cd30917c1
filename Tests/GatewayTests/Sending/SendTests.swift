import Base
import Foundation
@testable import Gateway
import HTTPTypes
import Schemas
import ServiceKit
import TestSupport
import Testing

@Suite("POST /send", .timeLimit(.minutes(10)))
struct SendTests {
    @Test("A text is sent to the subject with the given names, and a repeated request answers with the same message")
    func send() async throws {
        try await RunningGateway.with { gateway in
            let topicKey = try await gateway.makeSubject(named: "Größe & Co", "a/b", "50 %+1?").topicKey
            let target = "/send/Gr%C3%B6%C3%9Fe%20%26%20Co/A%2Fb/50%20%25%2B1%3F"
            let key = ["Idempotency-Key": "k"]
            let answer = try await gateway.request("POST", target + "?ttl=600", headers: key, body: "Geschlossen\nBis morgen 🎓\n")
            #expect(answer.status == 201, "\(answer)")
            let msiKey = try #require(answer.object["msi_key"] as? String)
            #expect(answer["location"] == "/message/\(msiKey)")
            let message = try await gateway.request("GET", "/message/\(msiKey)").object
            #expect(message["topic_key"] as? String == topicKey && message["ttl"] as? Int == 600)
            #expect(message["title"] as? String == "Geschlossen" && message["desc"] as? String == "Bis morgen 🎓")
            #expect(message["message"] as? String == "Bis morgen 🎓")

            let again = try await gateway.request("POST", target + "?ttl=600", headers: key, body: "Geschlossen\nBis morgen 🎓\n")
            #expect(again.object["msi_key"] as? String == msiKey && again["idempotency-replayed"] == "true")
            let other = try await gateway.request("POST", target, headers: key, body: "Another")
            #expect(other.problem == "idempotency-key-reused")

            let titled = try await gateway.request(
                "POST", target + "?title=T%C3%BCr&desc=D&link=https%3A%2F%2Fexample.edu", body: "m")
            let second = try #require(titled.object["msi_key"] as? String)
            let sent = try await gateway.request("GET", "/message/\(second)").object
            #expect(sent["title"] as? String == "Tür" && sent["desc"] as? String == "D" && sent["message"] as? String == "m")
            #expect((sent["options"] as? [String: Any])?["link"] as? String == "https://example.edu")
        }
    }

    @Test("A repeated request gets the first answer, even if its subject was renamed, replaced or deleted since")
    func repeated() async throws {
        try await RunningGateway.with { gateway in
            let subject = try await gateway.makeSubject(named: "Campus", "Weather", "Storms")
            let target = "/send/campus/Weather/Storms?delay=3600"
            func send(_ target: String = target, _ text: String = "Stay at home") async throws -> HTTPAnswer {
                try await gateway.request("POST", target, headers: ["Idempotency-Key": "k"], body: text)
            }
            let first = try await send()
            #expect(first.status == 201, "\(first)")
            func expectFirst() async throws {
                let again = try await send()
                #expect(again.status == 201 && again.body == first.body && again["idempotency-replayed"] == "true", "\(again)")
                #expect(try await send(target, "Another text").problem == "idempotency-key-reused")
                #expect(try await send("/send/Campus/Weather/Fires?delay=3600").problem == "idempotency-key-reused")
                #expect(try await send("/send/Campus/Weather/Storms").problem == "idempotency-key-reused")
            }
            let path = "/subject/\(subject.channel)/\(subject.area)/\(subject.subject)"
            func update(_ name: String, _ distribution: String) async throws {
                let body = #"{"name":"\#(name)","desc":"","opt":{"level":"","distribution":"\#(distribution)"}}"#
                #expect(try await gateway.request("PUT", path, body: body).status == 200)
            }
            try await update("Storms", "Information")
            try await expectFirst()
            try await update("Gales", "Alert")
            try await expectFirst()
            // Two other subjects of this name are ambiguous.
            for _ in 0..<2 {
                _ = try await gateway.makeSubject(named: "Campus", "Weather", "Storms")
                try await expectFirst()
            }
            #expect(try await gateway.request("DELETE", path).status == 204)
            try await expectFirst()
            #expect(try await gateway.request("GET", "/message").messages.count == 1)
        }
    }

    @Test("Unknown and ambiguous names, bad parameters and bad texts are refused with the name of the field")
    func errors() async throws {
        try await RunningGateway.with { gateway in
            for _ in 0..<2 { _ = try await gateway.makeSubject(named: "Campus", "Weather", "Storms") }
            _ = try await gateway.makeSubject(named: "Library", "Hours", "Opening")
            func problem(_ target: String, body: String = "text") async throws -> (String?, String?) {
                let answer = try await gateway.request("POST", target, body: body)
                return (answer.problem, answer.object["field"] as? String)
            }
            #expect(try await problem("/send/Campus/Weather/Storms") == ("ambiguous-name", nil))
            #expect(try await problem("/send/Libary/Hours/Opening") == ("not-found", "channel"))
            #expect(try await problem("/send/Library/Hours/%FF") == ("invalid-field", "subject"))
            #expect(try await problem("/send/Library/Hours") == ("not-found", nil))
            #expect(try await problem("/send/Library/Hours/Opening?tilte=t") == ("invalid-field", "tilte"))
            #expect(try await problem("/send/Library/Hours/Opening?ttl=-1") == ("invalid-field", "ttl"))
            #expect(try await problem("/send/Library/Hours/Opening?link=http://example.edu") == ("invalid-field", "link"))
            #expect(try await problem("/send/Library/Hours/Opening", body: "") == ("invalid-field", "message"))
            let long = String(repeating: "x\n", count: 2_000)
            #expect(try await problem("/send/Library/Hours/Opening", body: long) == ("invalid-field", "message"))
            let bytes = HTTPConversation.request(
                "POST", "/send/Library/Hours/Opening", headers: ["Authorization": "Bearer \(gateway.token ?? "")"], body: [0xFF])
            let answer = try #require(try await HTTPConversation.send(bytes, to: gateway.port))
            #expect(answer.object["field"] as? String == "message", "\(answer)")
            #expect(try await gateway.request("GET", "/send/Library/Hours/Opening").status == 405)
        }
    }

    @Test("Text reaches phones without a byte order mark, and JSON, forms and other types are refused with advice")
    func types() async throws {
        let form = "application/x-www-form-urlencoded"
        let route = Route(.post, "/text", right: .anonymous, body: TextBody.self, answer: .ok(TextBody.self)) { call in
            Answer(TextBody(text: try await call.text(as: "message")))
        }
        try await withRouteServer([route]) { port in
            func answer(_ body: String, _ headers: [String: String]) async throws -> HTTPAnswer {
                let request = HTTPConversation.request("POST", "/text", headers: headers, body: Array(body.utf8))
                return try #require(try await HTTPConversation.send(request, to: port))
            }
            for (body, type) in [
                ("\u{FEFF}Campus closed", nil), ("Campus closed", form), ("https://example.edu/?a=b", form),
                ("[closed] = now", form),
                (#"{"a":1}"#, "text/plain"), ("a=b", #"Text/Plain; charset="UTF-8""#), ("**closed**", "text/markdown"),
            ] as [(String, String?)] {
                let read = try await answer(body, type.map { ["Content-Type": $0] } ?? [:])
                #expect(read.object["text"] as? String == String(body.trimmingPrefix("\u{FEFF}")), "\(body): \(read)")
            }
            for (body, headers) in [
                (#"{"title":"Closed"}"#, ["Content-Type": "application/json"]), (#"{"title":"Closed"}"#, [:]),
                (#" [{"title":"Closed"}]"#, ["Content-Type": form]),
                ("version=1.0&message=Campus+closed", ["Content-Type": form]),
                ("message=Campus closed", ["Content-Type": form]), ("--b", ["Content-Type": "multipart/form-data; boundary=b"]),
                ("Closed", ["Content-Type": "text/plain; charset=iso-8859-1"]), ("<p>Closed", ["Content-Type": "text/html"]),
                ("Closed", ["Content-Type": "text/plain", "Content-Encoding": "gzip"]),
            ] {
                let refused = try await answer(body, headers)
                #expect(refused.status == 415 && refused.problem == "unsupported-media-type", "\(body): \(refused)")
            }
            #expect(try await answer("a=b", ["Content-Type": form]).text.contains("-H 'Content-Type: text/plain'"))
        }
    }
}

@Suite("The lifetime of a message")
struct MessageLifetimesTests {
    @Test(
        "An Alert has its own time to live, which is not longer than that of other messages",
        arguments: [(86_400, 2_419_200, 86_400), (86_400, 3_600, 3_600)] as [(Seconds, Seconds, Seconds)])
    func alerts(alert: Seconds, message: Seconds, expected: Seconds) {
        let lifetimes = MessageLifetimes(message: LiveSetting(message), alert: alert)
        #expect(lifetimes[.alert] == expected)
        #expect(lifetimes[.information] == message)
    }
}
