import HTTPRouting
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import Gateway

/// What clients and proxies of every version of HTTP/1 get, on the gateway's own channel and on that of the other servers.
@Suite("Versions of HTTP", .timeLimit(.minutes(10)))
struct HTTPVersionTests {
    enum Server: CaseIterable, Sendable {
        case gateway, other
    }

    /// A body of unknown length.
    private static let growing = ResponseBody { writer in
        for text in ["one ", "two"] { try await writer.write(ByteBuffer(string: text)) }
        try await writer.finish(nil)
    }

    /// A server with a document at `/known`, one of unknown length at `/growing`, and `/text`, which answers with its body. The other
    /// server refuses `/refused`.
    private func withServer(_ kind: Server, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        guard kind == .other else {
            return try await withRouteServer(
                [
                    Route(.get, "/known", right: .anonymous, answer: .ok(String.self)) { _ in Answer("known") },
                    Route(.get, "/growing", right: .anonymous, answer: .ok("text/plain")) { _ in
                        Answer(body: Self.growing, headers: [.contentType: "text/plain"])
                    },
                    Route(.post, "/text", right: .anonymous, body: TextBody.self, answer: .ok(String.self)) { call in
                        Answer(try await call.text(as: "text"))
                    },
                ], body)
        }
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("known") { _, _ in "\"known\"" }
        router.get("growing") { _, _ in Response(status: .ok, body: Self.growing) }
        router.get("refused") { _, _ -> String in throw HTTPError(.conflict, message: "refused") }
        router.post("text") { request, _ in "\"\(String(buffer: try await request.body.collect(upTo: 1_000)))\"" }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = Application(
            router: router, server: .http1Connections, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: quietLogger)
        try await withServices([server], port: ports, logger: quietLogger, body)
    }

    @Test(
        "HTTP/1.0 gets a length or an answer that ends with the connection, no chunks, and an open connection only if it asks",
        arguments: Server.allCases)
    func version10(_ server: Server) async throws {
        try await withServer(server) { port in
            for (target, text) in [("/known", "\"known\""), ("/growing", "one two")] {
                // Each ends with the connection, or the test would wait. A host is not required.
                for fields in [["Host: 127.0.0.1"], [], ["Connection: close"]] {
                    let request = HTTPConversation.oldRequest("GET", target, fields)
                    let answer = try #require(try await HTTPConversation.send(request, to: port))
                    #expect(answer.status == 200 && answer.text == text && answer.isForOldClient, "\(fields): \(answer)")
                    #expect((answer["content-length"] == nil) == (target == "/growing"))
                }
            }
            let connection = try HeldConnection(to: port)
            for _ in 0..<2 {
                connection.send("GET /known HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: Keep-Alive\r\n\r\n".utf8)
                let answer = try await connection.answer()
                #expect(answer.text == "\"known\"" && answer["connection"] == "keep-alive")
            }
            connection.send("GET /growing HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n".utf8)
            #expect(try await connection.ends())
        }
    }

    @Test("HTTP/1.1 gets chunks for a body of unknown length, HEAD gets none, and the connection stays open")
    func version11() async throws {
        try await withServer(.gateway) { port in
            let answer = try await HTTPConversation.send(HTTPConversation.request("GET", "/growing"), to: port)
            #expect(answer?.text == "one two" && answer?["transfer-encoding"] == "chunked" && answer?.version == .http1_1)
            let connection = try HeldConnection(to: port)
            connection.send("HEAD", "/growing")
            let head = try await connection.answer(hasBody: false)
            #expect(head.status == 200 && head["content-length"] == nil && head["transfer-encoding"] == nil)
            for (fields, value) in [([], nil), (["Connection: TE, Close"], "close")] as [([String], String?)] {
                connection.send("GET", "/known", fields)
                let answer = try await connection.answer()
                #expect(answer.text == "\"known\"" && answer["connection"] == value)
            }
            #expect(try await connection.ends())
        }
    }

    @Test("HEAD and OPTIONS * are answered", arguments: Server.allCases)
    func headAndOptions(_ server: Server) async throws {
        try await withServer(server) { port in
            let connection = try HeldConnection(to: port)
            connection.send("HEAD", "/known")
            let head = try await connection.answer(hasBody: false)
            #expect(head.status == 200 && head["content-length"] == "7")
            // Its body would be read as the next answer.
            connection.send("HEAD", "/refused")
            let refusal = try await connection.answer(hasBody: false)
            #expect(refusal.status == (server == .gateway ? 404 : 409) && refusal["content-length"] != "0")
            connection.send("OPTIONS", "*")
            #expect(try await connection.answer(hasBody: false).status == 204)
            connection.send("GET", "/known")
            #expect(try await connection.answer().text == "\"known\"")
        }
    }

    @Test("A client that expects 100 Continue gets it when its body is read, and HTTP/1.0 never", arguments: Server.allCases)
    func expectation(_ server: Server) async throws {
        try await withServer(server) { port in
            let connection = try HeldConnection(to: port)
            for _ in 0..<2 {
                connection.sendHead("POST", "/text", ["Expect: 100-Continue"], length: 5)
                #expect(try await connection.answer(hasBody: false).status == 100)
                connection.send("hello".utf8)
                #expect(try await connection.answer().text == "\"hello\"")
            }
            let refused = try HeldConnection(to: port)
            refused.sendHead("POST", "/nowhere", ["Expect: 100-continue"], length: 5)
            #expect(try await refused.answer().status == 404)
            let old = HTTPConversation.oldRequest("POST", "/text", ["Expect: 100-continue"], body: "hello")
            #expect(try await HTTPConversation.send(old, to: port)?.status == 200)
        }
    }
}
