import HTTPTypes
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

/// Clients of other machines, behind a proxy.
@Suite("Proxies", .timeLimit(.minutes(10)))
struct ProxyTests {
    private static let host = ["Host": "hub.example.edu"]

    /// Requests to a server that trusts a proxy, and says who its client is.
    private func withServer(
        trusting proxy: String, _ body: @escaping @Sendable (_ ask: Ask) async throws -> Void
    ) async throws {
        let route = Route(.get, "/client", right: .anyone, answer: .ok([String].self)) { call in
            Answer([call.context.clientAddress ?? "", "\(call.context.isSecure)"])
        }
        let health = Route(.get, "/health", right: .anyone, answer: .ok(String.self)) { _ in Answer("ok") }
        let access = GatewayAccess(
            host: .loopback, trustedProxies: [try #require(IPNetwork(proxy))], publicURL: "https://hub.example.edu")
        try await withRouteServer([route, health], access: access) { port in
            try await body { target, headers in
                let bytes = HTTPConversation.request("GET", target, headers: headers.merging(Self.host) { given, _ in given })
                return try #require(try await HTTPConversation.send(bytes, to: port))
            }
        }
    }

    private typealias Ask = @Sendable (_ target: String, _ headers: [String: String]) async throws -> HTTPAnswer

    @Test("A trusted proxy says who the client is; what the client wrote itself does not count")
    func trusted() async throws {
        try await withServer(trusting: "127.0.0.1") { ask in
            for (field, client) in [("203.0.113.9", "203.0.113.9"), ("127.0.0.1, 10.0.0.1, 203.0.113.9", "203.0.113.9")] {
                let answer = try await ask("/client", ["X-Forwarded-For": field, "X-Forwarded-Proto": "https"])
                #expect(answer.text == #"["\#(client)","true"]"#)
            }
            let standard = try await ask("/client", ["Forwarded": "for=1.1.1.1, for=\"[2001:db8::9]:80\";proto=https"])
            #expect(standard.text == #"["2001:db8::9","true"]"#)
            // A program on the gateway's own machine.
            #expect(try await ask("/client", [:]).text == #"["127.0.0.1","false"]"#)
            let both = try await ask(
                "/client", ["X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "Forwarded": "for=127.0.0.1"])
            #expect(both.status == 400 && both.object["field"] as? String == "Forwarded", "\(both)")
        }
    }

    @Test("A client whose connection to the proxy is not encrypted is refused, except for GET /health")
    func unencrypted() async throws {
        try await withServer(trusting: "127.0.0.1") { ask in
            for headers in [["X-Forwarded-For": "203.0.113.9"], ["X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http"]] {
                let answer = try await ask("/client", headers)
                #expect(answer.status == 403 && answer.problem == "insecure-connection", "\(answer)")
                #expect(answer.text.contains("https://hub.example.edu"))
                #expect(try await ask("/health", headers).status == 200)
            }
        }
    }

    @Test("A proxy that is not trusted is refused, and told which setting names it")
    func untrusted() async throws {
        try await withServer(trusting: "10.0.0.1") { ask in
            for field in ["X-Forwarded-For", "x-forwarded-host", "Forwarded"] {
                let answer = try await ask("/client", [field: "203.0.113.9"])
                #expect(answer.status == 400 && answer.problem == "invalid-field", "\(answer)")
                #expect(
                    answer.text.contains("127.0.0.1 is no trusted proxy") && answer.text.contains("MSI_GATEWAY_TRUSTED_PROXIES"))
            }
            #expect(try await ask("/client", [:]).text == #"["127.0.0.1","false"]"#)
        }
    }

    @Test("A client cannot pretend to be on the gateway's own machine")
    func pretendedLoopback() async throws {
        try await withServer(trusting: "127.0.0.1") { ask in
            for headers in [
                ["X-Forwarded-For": "127.0.0.1"], ["X-Forwarded-For": "::1"], ["Forwarded": "for=127.0.0.1"],
                ["X-Forwarded-For": "203.0.113.9, 127.0.0.1"], ["X-Forwarded-Host": "localhost"],
            ] {
                let answer = try await ask("/client", headers)
                #expect(answer.status == 403 && answer.problem == "insecure-connection", "\(headers): \(answer)")
            }
            let chain = ["X-Forwarded-For": "203.0.113.9, 127.0.0.1", "X-Forwarded-Proto": "https"]
            #expect(try await ask("/client", chain).text == #"["203.0.113.9","true"]"#)
        }
    }

    @Test("The host must be that of the public URL, or a loopback name; its pages have the gateway's own origin")
    func host() async throws {
        try await withServer(trusting: "127.0.0.1") { ask in
            let https = ["X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"]
            for host in ["hub.example.edu", "HUB.example.edu:443", "127.0.0.1:8080", "localhost"] {
                #expect(try await ask("/client", https.merging(["Host": host]) { $1 }).status == 200, "\(host)")
            }
            for host in ["evil.example", "hub.example.edu.evil.example", "10.0.0.1"] {
                let answer = try await ask("/client", https.merging(["Host": host]) { $1 })
                #expect(answer.problem == "origin-refused" && answer.text.contains("MSI_GATEWAY_PUBLIC_URL"), "\(answer)")
            }
            for (origin, status) in [
                ("https://hub.example.edu", 200), ("http://hub.example.edu", 403), ("https://evil.example", 403),
            ] {
                #expect(try await ask("/client", https.merging(["Origin": origin]) { $1 }).status == status, "\(origin)")
            }
        }
    }
}
