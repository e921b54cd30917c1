import Foundation
import Schemas
import TestSupport
import Testing

/// Subjects that are moved to another area over HTTP, with all services.
@Suite("Moves over HTTP", .timeLimit(.minutes(10)))
struct MoveOverHTTPTests {
    @Test("A moved subject keeps its topic key, and its messages are found by its new place")
    func moved() async throws {
        try await RunningGateway.with { gateway in
            let (path, other) = (try await gateway.makeSubject(), try await gateway.makeSubject())
            #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
            func found(_ query: String) async throws -> Int? {
                let page = try await gateway.request("GET", "/message?\(query)").object["messages"] as? [Any]
                let states = try await gateway.request("GET", "/statistics?\(query)").object["states"] as? [String: Any]
                let counted = (states ?? [:]).values.reduce(0) { $0 + (($1 as? Int64) ?? 0) }
                #expect(page?.count == Int(counted), "\(query)")
                return page?.count
            }
            let target = "/place/\(path.channel)/\(path.area)/\(path.subject)"
            let body = #"{"channel":"\#(other.channel)","area":"\#(other.area)"}"#
            let tag = try #require(try await gateway.request("GET", "/channel")["etag"])
            for (wrong, status) in [(#"{"channel":"\#(other.channel)"}"#, 400), (#"{"channel":"5a","area":"5b"}"#, 400)] {
                #expect(try await gateway.request("PUT", target, body: wrong).status == status, "\(wrong)")
            }
            let same = #"{"channel":"\#(path.channel)","area":"\#(path.area)"}"#
            #expect(try await gateway.request("PUT", target, body: same).status == 400)

            let moved = try await gateway.request("PUT", target, headers: ["If-Match": tag], body: body)
            #expect(moved.status == 200 && moved["etag"] != nil && moved["etag"] != tag, "\(moved)")
            #expect(moved.object["topic_key"] as? String == path.topicKey && moved.object["id"] as? String == path.subject)
            #expect(try await gateway.request("PUT", target, body: body).status == 404)
            for (query, count) in [
                ("channel=\(path.channel)", 0), ("area=\(path.area)", 0), ("channel=\(other.channel)", 1),
                ("area=\(other.area)", 1), ("channel=\(other.channel)&area=\(other.area)", 1), ("subject=\(path.subject)", 1),
                ("area=\(other.area)&subject=\(other.subject)", 0),
            ] {
                #expect(try await found(query) == count, "\(query)")
            }
            // It is sent to as before, and edited at its new place, as of an old version not.
            #expect(try await gateway.request("POST", "/message", body: path.message("again")).status == 201)
            #expect(try await found("area=\(other.area)") == 2)
            let back = "/place/\(other.channel)/\(other.area)/\(path.subject)"
            #expect(try await gateway.request("PUT", back, headers: ["If-Match": tag], body: same).status == 412)
            #expect(try await gateway.request("PUT", back, body: same).status == 200)
            #expect(try await found("area=\(other.area)") == 0)
            #expect(try await found("area=\(path.area)") == 2)
        }
    }

    @Test("A token whose scope is one subject changes it where it is now, and nothing else there")
    func scope() async throws {
        try await RunningGateway.with { gateway in
            let (path, other) = (try await gateway.makeSubject(), try await gateway.makeSubject())
            let root = try await gateway.newSession("root", "super_user")
            try await root.confirm()
            let secret = try await root.makeToken(["administer"], #""scope":["\#(path.topicKey)"]"#)
            let token = gateway.with(token: secret)
            func status(_ place: SamplePath, _ subject: String) async throws -> Int {
                let body = #"{"name":"New","desc":"","opt":{"level":"","distribution":"Alert"}}"#
                return try await token.request("PUT", "/subject/\(place.channel)/\(place.area)/\(subject)", body: body).status
            }
            #expect(try await status(path, path.subject) == 200)
            let target = "/place/\(path.channel)/\(path.area)/\(path.subject)"
            let body = #"{"channel":"\#(other.channel)","area":"\#(other.area)"}"#
            #expect(try await gateway.request("PUT", target, body: body).status == 200)
            #expect(try await status(other, path.subject) == 200)
            #expect(try await status(path, path.subject) == 404)
            #expect(try await status(other, other.subject) == 403)
        }
    }
}
