import Bus
import Foundation
import HTTPTypes
import Base
import Schemas
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// The gateway's errors, and the common header fields of its answers.
@Suite("Gateway over HTTP", .timeLimit(.minutes(10)))
struct GatewayOverHTTPTests {
    @Test("While the services are unreachable, answers say so with Retry-After; everything works once they are back")
    func servicesAway() async throws {
        let asked = ServiceEntry.gateway.startDependencies + [.study]
        let services = Dictionary(uniqueKeysWithValues: asked.map { ($0.name, $0) })
        try await RunningGateway.with(services: []) { gateway in
            let named = #"{"name":"n","desc":"d"}"#
            let message = #"{"title":"t","desc":"d","message":"m","topic_key":"\#(Self.anyTopic)","distribution":"Alert"}"#
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (method, target, body) in [
                    ("GET", "/channel", nil as String?), ("POST", "/channel", named), ("DELETE", "/channel/\(ObjectID())", nil),
                    ("POST", "/area/\(ObjectID())", named), ("POST", "/message", message), ("GET", "/message", nil),
                    ("GET", "/message/\(ObjectID())", nil),
                ] {
                    group.addTask {
                        let answer = try await gateway.request(method, target, body: body)
                        #expect(answer.status == 503 && answer.problem == "service-unavailable", "\(method) \(target): \(answer)")
                        #expect(answer["retry-after"].flatMap { Int($0) } ?? 0 > 0)
                        // The answer names a service and no path of the machine; the log has the request's id.
                        #expect(answer.text.contains(" service") && !answer.text.contains("ipc:"), "\(answer)")
                        let id = try #require(answer["x-request-id"])
                        try await eventually("the id in the log") { gateway.process.log.contains(id) }
                    }
                }
                try await group.waitForAll()
            }
            let sick = try await gateway.request("GET", "/health")
            #expect(sick.status == 503 && sick["retry-after"] != nil)
            #expect(sick.object["services"] as? [String: String] == services.mapValues { _ in "unavailable" })
            #expect(sick.object["versions"] as? [String: String] == ["gateway": productVersion])
            #expect(try await gateway.request("GET", "/problems").status == 200)

            try await RunningGateway.withServices(["msi-cube", "msi-people"], in: gateway.folder) {
                try await eventually { try await gateway.request("GET", "/channel").status == 200 }
                // A result is shared for half a second.
                let expected = services.mapValues { [.cube, .people].contains($0) ? "ok" : "unavailable" }
                try await eventually("the health of the two services is known") {
                    try await gateway.request("GET", "/health").object["services"] as? [String: String] == expected
                }
                let half = try await gateway.request("GET", "/health")
                #expect(half.status == 503)
                #expect(
                    half.object["versions"] as? [String: String]
                        == ["gateway": productVersion, "cube": productVersion, "people": productVersion])
                let path = try await gateway.makeSubject()
                let unstored = try await gateway.request("POST", "/message", body: path.message())
                #expect(unstored.status == 503 && unstored["retry-after"] != nil)

                let others = services.values.filter { ![.cube, .people].contains($0) }.map(\.executable)
                try await RunningGateway.withServices(others[...], in: gateway.folder) {
                    try await eventually { try await gateway.request("GET", "/health").status == 200 }
                    #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
                }
            }
            expectCleanLog(of: gateway.process, secret: "swordfish", "services away")
        }
    }

    private static let anyTopic = "\(ObjectID())-\(ObjectID())-\(ObjectID())"

    @Test("Every failure is a problem document of the catalogue")
    func problems() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let (channel, area, subject) = (path.channel, path.area, path.subject)
            let named = #"{"name":"n","desc":"d"}"#
            let long = String(repeating: "x", count: 501)
            let cases: [(String, String, String?, Int, String, String?)] = [
                ("GET", "/nowhere", nil, 404, "not-found", nil),
                ("POST", "/channel/", "", 400, "invalid-json", nil),
                ("GET", "/area/\(channel)/\(area)/\(subject)/x", nil, 404, "not-found", nil),
                ("PUT", "/channel/\(ObjectID())", named, 404, "not-found", nil),
                ("GET", "/message/\(ObjectID())", nil, 404, "not-found", nil),
                ("GET", "/problems/of-mine", nil, 404, "not-found", nil),
                ("PUT", "/channel/5a", named, 400, "invalid-field", "channelID"),
                ("DELETE", "/area/\(channel)/zz", nil, 400, "invalid-field", "areaID"),
                ("DELETE", "/subject/\(channel)/\(area)/0", nil, 400, "invalid-field", "subjectID"),
                ("GET", "/message/x", nil, 400, "invalid-field", "msi_key"),
                ("POST", "/channel", #"{"name":"n""#, 400, "invalid-json", nil),
                ("POST", "/channel", "[]", 400, "invalid-json", nil),
                ("POST", "/channel", #"{"name":"n"}"#, 400, "invalid-field", "desc"),
                ("PUT", "/channel/\(channel)", #"{"name":"n","desc":7}"#, 400, "invalid-field", "desc"),
                ("PUT", "/channel/\(channel)", #"{"name":"n","desc":"d","access":[]}"#, 400, "invalid-field", "access"),
                ("POST", "/message", path.message(long), 400, "invalid-field", "title"),
                ("POST", "/message", path.message(distribution: "Information"), 400, "distribution-mismatch", "distribution"),
                (
                    "POST", "/message",
                    #"{"title":"t","desc":"d","message":"m","topic_key":"\#(Self.anyTopic)","distribution":"Alert"}"#, 400,
                    "topic-unknown", "topic_key"
                ),
                ("POST", "/channel", String(repeating: " ", count: 65_537), 413, "body-too-large", nil),
                ("GET", "/message?limit=0", nil, 400, "invalid-field", "limit"),
                ("GET", "/message?limit=201", nil, 400, "invalid-field", "limit"),
                ("GET", "/message?limit=ten", nil, 400, "invalid-field", "limit"),
                ("GET", "/message?limit=99999999999999999999", nil, 400, "invalid-field", "limit"),
                ("GET", "/message?limit=", nil, 400, "invalid-field", "limit"),
                ("GET", "/message?before=7", nil, 400, "invalid-field", "before"),
                ("GET", "/message?before=-1-\(channel)", nil, 400, "invalid-field", "before"),
                ("GET", "/message?chanel=\(channel)", nil, 400, "invalid-field", "chanel"),
                ("GET", "/message?channel=5a", nil, 400, "invalid-field", "channel"),
                ("GET", "/message?state=lost", nil, 400, "invalid-field", "state"),
                ("GET", "/message?sender=", nil, 400, "invalid-field", "sender"),
                ("GET", "/message?from=yesterday", nil, 400, "invalid-field", "from"),
                ("GET", "/message?to=-1", nil, 400, "invalid-field", "to"),
                ("GET", "/message?q=%20-%20", nil, 400, "invalid-field", "q"),
                ("GET", "/message?limit=5&limit=6", nil, 400, "invalid-field", "limit"),
                ("DELETE", "/message/\(ObjectID())", nil, 404, "not-found", nil),
                ("DELETE", "/message/x", nil, 400, "invalid-field", "msi_key"),
                ("PUT", "/message/\(ObjectID())", path.message(), 404, "not-found", nil),
                ("PUT", "/message/x", path.message(), 400, "invalid-field", "msi_key"),
                ("PUT", "/message/\(ObjectID())?edited=-1", path.message(), 400, "invalid-field", "edited"),
                ("POST", "/message/\(ObjectID())/retry", nil, 404, "not-found", nil),
                ("POST", "/message", path.message(and: #""ttl":2419201"#), 400, "invalid-field", "ttl"),
                ("POST", "/message", path.message(and: #""ttl":-1"#), 400, "invalid-field", "ttl"),
                ("POST", "/message", path.message(and: #""options":{"image":"ftp://x"}"#), 400, "invalid-field", "options.image"),
                ("POST", "/message", path.message(and: #""options":{"badge":1}"#), 400, "invalid-field", "options.badge"),
                ("POST", "/message", path.message(and: #""ttl":"60""#), 400, "invalid-field", "ttl"),
                ("POST", "/message", path.message(and: #""send_at":1000"#), 400, "invalid-field", "send_at"),
                (
                    "POST", "/message", path.message(and: #""send_at":\#(UnixMilliseconds.now + .seconds(400 * 86_400))"#), 400,
                    "invalid-field", "send_at"
                ),
            ]
            for (method, target, body, status, problem, field) in cases {
                let answer = try await gateway.request(method, target, body: body)
                #expect(answer.status == status && answer.problem == problem, "\(method) \(target): \(answer)")
                #expect(answer.object["field"] as? String == field, "\(method) \(target): \(answer)")
            }
            let notCurrent = [#""v0""#, #"W/"v0", "x""#, #""x""#, #""v999""#].map {
                ("PUT", "/channel/\(channel)", ["If-Match": $0], 412, "edit-conflict")
            }
            let headers: [(String, String, [String: String], Int, String)] =
                notCurrent + [
                    ("POST", "/message", ["Idempotency-Key": String(repeating: "k", count: 256)], 400, "invalid-field"),
                    ("POST", "/message", ["Idempotency-Key": "a\r\nIdempotency-Key: b"], 400, "invalid-field"),
                    ("PUT", "/channel/\(channel)", ["If-Match": "v1"], 400, "invalid-field"),
                ]
            for (method, target, headers, status, problem) in headers {
                let answer = try await gateway.request(
                    method, target, headers: headers, body: method == "PUT" ? named : path.message())
                #expect(answer.status == status && answer.problem == problem, "\(headers): \(answer)")
            }
            expectCleanLog(of: gateway.process, secret: long, "problems")
        }
    }

    @Test("A conflict is 412 only for an edit with a version in If-Match; otherwise it is 409")
    func conflictWithoutVersion() async throws {
        try await withTemporaryFolder { folder in
            try await BusDouble.run("cube", in: folder) { router in
                router.on(DeleteChannel.self) { _, _ in throw CommandFailure(.conflict, "it cannot be deleted now") }
            } _: {
                try await RunningGateway.with(services: ["msi-people"], in: folder) { gateway in
                    let headers: [([String: String], Int, String)] = [
                        ([:], 409, "conflict"), (["If-Match": "*"], 409, "conflict"),
                        (["If-Match": "\"v3\""], 412, "edit-conflict"),
                    ]
                    for (headers, status, problem) in headers {
                        let answer = try await gateway.request("DELETE", "/channel/\(ObjectID())", headers: headers)
                        #expect(answer.status == status && answer.problem == problem, "\(headers): \(answer)")
                    }
                }
            }
        }
    }

    @Test("A method that a path does not have is answered with the methods that it has")
    func methods() async throws {
        try await Features.alone { features in
            try await withRouteServer(features.routes) { port in
                for (path, routes) in Dictionary(grouping: features.routes, by: \.path) {
                    let own = Set(routes.map(\.method.rawValue))
                    let allowed = own.union(own.contains("GET") ? ["HEAD", "OPTIONS"] : ["OPTIONS"])
                    let target = path.replacing(/:\w+/, with: "\(ObjectID())").replacing("**", with: "x")
                    for method in Set(["PATCH", "TRACE", "GET", "PUT", "DELETE", "POST"]).subtracting(allowed) {
                        let answer = try #require(
                            try await HTTPConversation.send(HTTPConversation.request(method, target), to: port))
                        #expect(answer.status == 405 && answer.problem == "method-not-allowed", "\(method) \(target): \(answer)")
                        #expect(answer["allow"] == allowed.sorted().joined(separator: ", "), "\(method) \(target)")
                    }
                    let options = try await HTTPConversation.send(HTTPConversation.request("OPTIONS", target), to: port)
                    #expect(options?.status == 204 && options?["allow"] == allowed.sorted().joined(separator: ", "), "\(target)")
                }
            }
        }
    }

    @Test("The link to the next page has no host, so that it works behind any proxy")
    func nextPage() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            for _ in 0..<2 {
                #expect(try await gateway.request("POST", "/message", body: path.message()).status == 201)
            }
            for target in ["/message?limit=1", "//message?limit=1"] {
                let page = try await gateway.request("GET", target)
                #expect(page["link"]?.hasPrefix("</message?limit=1&before=") == true, "\(page)")
                #expect((page.object["next"] as? String)?.hasPrefix("/message?") == true)
            }
        }
    }

    @Test("Every answer has a request id, and the caller's own if it is valid")
    func requestIDs() async throws {
        try await RunningGateway.with(services: []) { gateway in
            let mine = "4bf92f3577b34da6a3ce929d0e0e4736"
            let traced = try await gateway.request(
                "GET", "/problems", headers: ["traceparent": "00-\(mine)-00f067aa0ba902b7-01"])
            #expect(traced["x-request-id"] == mine)
            let named = try await gateway.request("GET", "/nowhere", headers: ["X-Request-Id": mine])
            #expect(named["x-request-id"] == mine && named.object["request_id"] as? String == mine)
            let uuid = try await gateway.request(
                "GET", "/problems", headers: ["X-Request-Id": "4BF92F35-77B3-4DA6-A3CE-929D0E0E4736"])
            #expect(uuid["x-request-id"] == mine)
            for bad in ["x", String(repeating: "0", count: 32), "4bf9 \"quoted\""] {
                let answer = try await gateway.request("GET", "/problems", headers: ["X-Request-Id": bad, "traceparent": bad])
                let given = try #require(answer["x-request-id"])
                #expect(given.wholeMatch(of: /[0-9a-f]{32}/) != nil && given != bad)
            }
        }
    }

    @Test("The trace of a post is on the bus, in the services' logs and in the message; an invalid one is replaced")
    func trace() async throws {
        // What goes well with a single message is logged at `debug`.
        try await RunningGateway.with(settings: ["MSI_LOG_LEVEL": "debug"]) { gateway in
            let mine = "4bf92f3577b34da6a3ce929d0e0e4736"
            let path = try await gateway.makeSubject()
            let traceparents = [
                "00-\(mine)-00f067aa0ba902b7-00", "cc-\(mine)-00f067aa0ba902b7-01-later",
                "00-\(mine.uppercased())-00f067aa0ba902b7-01",
                "ff-\(mine)-00f067aa0ba902b7-01",
            ]
            for (number, traceparent) in traceparents.enumerated() {
                let posted = try await gateway.request(
                    "POST", "/message", headers: ["traceparent": traceparent], body: path.message("\(number)"))
                let trace = try #require(posted["x-request-id"])
                #expect((trace == mine) == (number < 2), "\(traceparent): \(posted)")
                let key = try #require(posted.object["msi_key"] as? String)
                let stored = try #require(try await gateway.request("GET", "/message/\(key)").object["traceparent"] as? String)
                #expect(stored.hasPrefix("00-\(trace)-") && !stored.contains("00f067aa0ba902b7"), "\(stored)")
                #expect(stored.hasSuffix(number == 0 ? "-00" : "-01"))
                let log = try #require(
                    try FileManager.default.contentsOfDirectory(atPath: gateway.folder).first {
                        $0.hasPrefix("msi-message-log-") && $0.hasSuffix(".log")
                    })
                try await eventually("lines of the trace") {
                    let lines = try String(contentsOfFile: "\(gateway.folder)/\(log)", encoding: .utf8).split(separator: "\n")
                    let ours = lines.filter { $0.contains(key) && $0.contains(#""trace_id":"\#(trace)""#) }
                    return !ours.isEmpty && ours.allSatisfy { $0.contains(#""span_id":"#) }
                }
                let found = try await gateway.request("GET", "/message?trace_id=\(trace)").messages
                #expect(found.contains { $0["msi_key"] as? String == key } && found.count == (number == 1 ? 2 : 1), "\(found)")
            }
            let wrong = try await gateway.request("GET", "/message?trace_id=4bf9")
            #expect(wrong.status == 400 && wrong.object["field"] as? String == "trace_id", "\(wrong)")
        }
    }

    @Test("Pages of a configured origin may call the gateway, and pages of other origins may not")
    func origins() async throws {
        let portal = "https://portal.example.edu"
        try await RunningGateway.with(settings: ["MSI_GATEWAY_CORS_ORIGINS": portal]) { gateway in
            let allowed = try await gateway.request("GET", "/channel", headers: ["Origin": portal])
            #expect(allowed.status == 200 && allowed["access-control-allow-origin"] == portal)
            #expect(allowed["access-control-expose-headers"]?.contains("X-Request-Id") == true)
            let preflight = try await gateway.request(
                "OPTIONS", "/message",
                headers: [
                    "Origin": portal, "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "content-type, idempotency-key",
                ])
            #expect(preflight.status == 204 && preflight["access-control-allow-origin"] == portal)
            #expect(preflight["access-control-allow-methods"]?.contains("POST") == true)
            #expect(preflight["access-control-allow-headers"]?.lowercased().contains("idempotency-key") == true)
            // The page must be able to read a problem as well.
            let problem = try await gateway.request("GET", "/message/x", headers: ["Origin": portal])
            #expect(problem.status == 400 && problem["access-control-allow-origin"] == portal)

            for origin in ["https://evil.example", "null", "https://portal.example.edu.evil.example", "http://127.0.0.1:1"] {
                let refused = try await gateway.request(
                    "POST", "/channel", headers: ["Origin": origin], body: #"{"name":"n","desc":"d"}"#)
                #expect(refused.status == 403 && refused.problem == "origin-refused", "\(origin): \(refused)")
                #expect(refused["access-control-allow-origin"] == nil)
            }
            // A page whose own name resolves to this machine sends no Origin when it reads from there.
            for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "portal.example.edu.evil.example"] {
                let rebound = try await gateway.request("GET", "/message", headers: ["Host": host])
                #expect(rebound.status == 403 && rebound.problem == "origin-refused", "\(host): \(rebound)")
            }
            for host in [
                "[::1]evil.example", "127.0.0.1:evil.example", "127.0.0.1:", "127.0.0.1:80:80", "127.0.0.1:+80", "evil@127.0.0.1",
                "",
                "[::1", "127.0.0.1:99999", "localhost/x", "127.0.0.1\r\nHost: 127.0.0.1", "evil.example\r\nHost: 127.0.0.1",
            ] {
                let malformed = try await gateway.request("GET", "/channel", headers: ["Host": host])
                #expect(malformed.status == 400 && malformed.object["field"] as? String == "Host", "\(host): \(malformed)")
            }
            let hostless = try await HTTPConversation.send(
                Array("GET /channel HTTP/1.1\r\nConnection: close\r\n\r\n".utf8), to: gateway.port)
            #expect(hostless?.status == 400 && hostless?.object["field"] as? String == "Host")
            for host in ["localhost:8080", "LocalHost", "[::1]:8080", "portal.example.edu"] {
                #expect(try await gateway.request("GET", "/channel", headers: ["Host": host]).status == 200)
            }
            for (fields, status) in [
                (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "same-site"], 403),
                (["Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1"], 403),
                (["Sec-Fetch-Site": "cross-site", "Origin": portal], 400), (["Sec-Fetch-Site": "none"], 400),
                (["Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1"], 400), ([:], 400),
            ] {
                // The body is empty, so an admitted request is refused for that reason.
                for (method, target) in [("POST", "/channel"), ("PUT", "/channel/\(ObjectID())")] {
                    let answer = try await gateway.request(method, target, headers: fields, body: "")
                    #expect(answer.status == status, "\(fields): \(answer)")
                }
                let reading = try await gateway.request("GET", "/channel", headers: ["Sec-Fetch-Site": "cross-site"])
                #expect(reading.status == 200)
            }
            let cube = try await gateway.request("GET", "/channel")
            #expect(cube.text == "[]")
        }
    }
}
