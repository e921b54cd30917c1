import HTTPRouting
import HTTPTypes
import NIOCore
import NIOHTTP1
import Testing

@testable import Gateway

@Suite("The bytes of answers")
struct AnswerEncoderTests {
    private static let common = [
        "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY", "Referrer-Policy: no-referrer",
        "Cross-Origin-Resource-Policy: same-origin", "Cross-Origin-Opener-Policy: same-origin",
    ]
    private static let document = common + ["Content-Security-Policy: default-src 'none'; frame-ancestors 'none'"]

    private func request(
        _ method: HTTPMethod = .GET, _ version: HTTPVersion = .http1_1, _ headers: HTTPHeaders = ["Host": "localhost"]
    ) -> FramedRequest {
        var head = HTTPRequestHead(version: version, method: method, uri: "/", headers: headers)
        return FramedRequest(of: &head, at: nil)
    }

    /// The lines of a head, without the empty one at its end.
    private func lines(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, to request: FramedRequest, isLast: Bool = false
    ) -> [String] {
        var (encoder, bytes) = (AnswerEncoder(SecurityHeaders(isPublic: false)), ByteBuffer())
        encoder.head(HTTPResponse(status: status, headerFields: fields), to: request, isLast: isLast, into: &bytes)
        let text = String(buffer: bytes)
        #expect(text.hasSuffix("\r\n\r\n"))
        return text.split(separator: "\r\n").map(String.init)
    }

    @Test("An answer's own fields come first, then the security headers")
    func order() {
        let lines = lines(.ok, [.contentType: "application/json", .eTag: "\"v1\"", .contentLength: "2"], to: request())
        #expect(
            lines == ["HTTP/1.1 200 OK", "Content-Type: application/json", "ETag: \"v1\"", "Content-Length: 2"] + Self.document
                + ["Cache-Control: private, no-cache"])
    }

    @Test("The reason is that of the status, and a status that HTTP's library does not know has its own")
    func statusLine() {
        let statuses: [(HTTPResponse.Status, String)] = [
            (.created, "201 Created"), (.notFound, "404 Not Found"), (.contentTooLarge, "413 Payload Too Large"),
            (.init(code: 507, reasonPhrase: "Insufficient Storage"), "507 Insufficient Storage"),
            (.init(code: 299, reasonPhrase: "Odd"), "299 Odd"),
        ]
        for (status, text) in statuses {
            #expect(lines(status, [.contentLength: "0"], to: request()).first == "HTTP/1.1 \(text)")
            let old = request(.GET, .http1_0)
            #expect(lines(status, [.contentLength: "0"], to: old).first == "HTTP/1.0 \(text)")
        }
    }

    @Test("An answer without a length is sent in chunks, except to HEAD and to HTTP/1.0")
    func chunks() {
        let chunked = "Transfer-Encoding: chunked"
        #expect(lines(.ok, [:], to: request()).last == chunked)
        #expect(!lines(.ok, [:], to: request(.HEAD)).contains(chunked))
        let old = lines(.ok, [:], to: request(.GET, .http1_0, ["Connection": "keep-alive"]))
        #expect(!old.contains(chunked) && old.last == "Connection: close")
    }

    @Test("A status without a body has no length")
    func unchanged() {
        let lines = lines(.notModified, [.eTag: "\"v1\"", .contentLength: "0"], to: request())
        #expect(lines == ["HTTP/1.1 304 Not Modified", "ETag: \"v1\""] + Self.common + ["Cache-Control: private, no-cache"])
    }

    @Test("Connection is said once, at the end")
    func connection() {
        let close = "Connection: close"
        let fields: HTTPFields = [.connection: "close", .contentLength: "0"]
        let all = [
            lines(.ok, fields, to: request()), lines(.ok, [.contentLength: "0"], to: request(), isLast: true),
            lines(.ok, [.contentLength: "0"], to: request(.GET, .http1_1, ["Connection": "close"])),
        ]
        for lines in all { #expect(lines.last == close && lines.filter { $0 == close }.count == 1) }
        let old = request(.GET, .http1_0, ["Connection": "keep-alive"])
        #expect(lines(.ok, [.contentLength: "0"], to: old).last == "Connection: keep-alive")
        #expect(!lines(.ok, [.contentLength: "0"], to: request()).contains { $0.hasPrefix("Connection") })
    }
}
