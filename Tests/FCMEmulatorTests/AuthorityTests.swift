import AsyncHTTPClient
import NIOHTTP1
import NIOHTTP2
import Testing
import TestSupport

/// A request must name its host, as at Google's front end.
@Suite("Authority") struct AuthorityTests {
    @Test("A request without a host, with a malformed one or with two is refused by the front end") func refused() async throws {
        try await withEmulator { client in
            try await FrameClient.with(port: client.port) { frames in
                let wrong: [(String?, [(String, String)])] = [
                    (nil, []), ("", []), ("user@127.0.0.1", []), ("127.0.0.1:evil.example", []), ("[::1]evil.example", []),
                    ("127.0.0.1:", []), ("127.0.0.1:99999", []), ("[]", []), (":443", []),
                    ("127.0.0.1", [("host", "evil.example")]), (nil, [("host", "127.0.0.1")]),
                ]
                var stream: HTTP2StreamID = 1
                for (authority, extra) in wrong {
                    let request = HTTP2Frame.request(
                        stream, "GET", "/emulator/status", ends: true, authority: authority, extra: extra)
                    try await frames.send([request])
                    let status = try await frames.next { $0.status(of: stream) }
                    #expect(status == "400", "\(authority ?? "none") \(extra)")
                    stream = stream.advanced(by: 2)
                }
                for authority in ["127.0.0.1", "localhost:8443", "fcm.googleapis.com", "[::1]:443", "my_host.test"] {
                    try await frames.send([.request(stream, "GET", "/emulator/status", ends: true, authority: authority)])
                    let status = try await frames.next { $0.status(of: stream) }
                    #expect(status == "200", "\(authority)")
                    stream = stream.advanced(by: 2)
                }
            }
        }
    }

    @Test("A request of HTTP/1.1 without a valid host is refused with a page instead of JSON") func http1() async throws {
        try await withEmulator(version: .http1Only) { client in
            let answer = try await client.call(.GET, "/emulator/status", headers: [("Host", "127.0.0.1:evil.example")])
            #expect(answer.status == 400)
            #expect(answer.headers.first(name: "Content-Type") == "text/html; charset=UTF-8")
            #expect(answer.text.contains("Your client has issued a malformed or illegal request."))
            #expect(try await client.call(.GET, "/emulator/status", headers: [("Host", "localhost")]).status == 200)
        }
    }
}
