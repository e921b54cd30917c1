import HTTPTypes
import Hummingbird
import NIOCore
import ServiceKit
import TestSupport
import Testing

@testable import Gateway

@Suite("Security headers", .timeLimit(.minutes(10)))
struct SecurityHeaderTests {
    @Test("Every answer has the security headers, also an error before any route")
    func everyAnswer() async throws {
        let route = Route(.get, "/private", right: .read, answer: .ok(String.self)) { _ in Answer("secret") }
        let access = GatewayAccess(host: .loopback, publicURL: "https://hub.example.edu")
        try await withRouteServer([route], access: access) { port in
            for request in ["GET /private", "GET /nowhere", "PATCH /private", "OPTIONS /private", "GET /\u{e9}"] {
                let connection = try HeldConnection(to: port)
                connection.send("\(request) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
                let answer = try await connection.answer()
                let expected = [
                    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
                    "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
                    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Cache-Control": "no-store",
                    "Strict-Transport-Security": "max-age=31536000",
                ]
                for (name, value) in expected { #expect(answer[name] == value, "\(request): \(name) in \(answer.headers)") }
            }
        }
    }

    @Test("A page may load the gateway's own files and pictures from elsewhere, and has no inline script or style")
    func page() {
        let fields = added(to: [.contentType: "text/html; charset=utf-8", .cacheControl: "public"])
        let policy = fields["Content-Security-Policy"] ?? ""
        #expect(policy.contains("script-src 'self';") && policy.contains("style-src 'self';"))
        #expect(
            policy.contains("img-src 'self' data: https:;")
                && policy.contains("connect-src 'self'; manifest-src 'self'; worker-src 'self';"))
        #expect(policy.contains("require-trusted-types-for 'script';"))
        #expect(policy.hasPrefix("default-src 'none'; ") && policy.hasSuffix("; frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe") && !policy.contains("\n"))
        #expect(fields["Cache-Control"] == nil && fields["Strict-Transport-Security"] == nil)
    }

    @Test("An answer with an ETag may be kept by its reader alone, and is asked for again")
    func tagged() {
        let fields = added(to: [.contentType: "application/json", .eTag: "\"v1\""])
        #expect(fields["Cache-Control"] == "private, no-cache")
    }

    @Test("A 304 has no policy for its content, since a browser would replace that of the page by it")
    func unchanged() {
        let fields = added(to: [.eTag: "\"v1\"", .cacheControl: "no-cache"], status: .notModified)
        #expect(fields["Content-Security-Policy"] == nil && fields["X-Content-Type-Options"] == "nosniff")
    }

    @Test("An answer that names its own policy gets no other one, since browsers would follow both")
    func ownPolicy() {
        let fields = added(to: [.contentType: "text/javascript", .contentSecurityPolicy: SecurityHeaders.workerPolicy])
        #expect(fields["Content-Security-Policy"] == nil && fields["X-Content-Type-Options"] == "nosniff")
    }

    /// The fields that are sent in addition to those of an answer.
    private func added(to fields: HTTPFields, status: HTTPResponse.Status = .ok) -> [String: String] {
        let bytes = SecurityHeaders(isPublic: false).bytes(for: AnswerTraits(HTTPResponse(status: status, headerFields: fields)))
        let lines = String(buffer: bytes).split(separator: "\r\n").map { $0.split(separator: ": ", maxSplits: 1) }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), String($0[1])) })
    }
}
