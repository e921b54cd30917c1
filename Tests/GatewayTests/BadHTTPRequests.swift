import Schemas
import TestSupport
import Base

/// The bytes of an invalid request.
struct BadHTTPRequest: Sendable {
    let description: String
    let bytes: [UInt8]
    /// Whether the client disconnects after these bytes, before the announced end.
    var isCutOff = false
}

/// Makes bad requests for every route. The same seed makes the same requests.
struct BadHTTPRequests {
    /// A text in many of the requests, which must not appear in a log.
    static let secret = "swordfish"

    private var generator: SeededGenerator
    private let path: SamplePath
    private let token: String

    /// - Parameter token: The bearer token of the requests.
    init(seed: UInt64, path: SamplePath, token: String) {
        generator = SeededGenerator(seed: seed)
        self.path = path
        self.token = token
    }

    private func request(_ method: String, _ target: String, body: [UInt8]? = nil) -> [UInt8] {
        HTTPConversation.request(method, target, headers: ["Authorization": "Bearer \(token)"], body: body)
    }

    mutating func make() -> [BadHTTPRequest] {
        var requests: [BadHTTPRequest] = []
        for route in bodyRoutes {
            for fault in SpoiltDocument.Fault.allCases {
                let document = route.document.spoilt(by: fault, using: &generator)
                requests.append(
                    BadHTTPRequest(
                        description: "\(route.method) \(route.target) with a body \(fault)",
                        bytes: request(route.method, route.target, body: document.bytes)))
            }
            requests += framing(of: route)
        }
        return requests + targets() + heads()
    }

    // MARK: Bodies

    private struct Route {
        let method: String
        let target: String
        let document: SampleDocument
    }

    private var bodyRoutes: [Route] {
        let text = "\"\(Self.secret)\""
        let named = SampleDocument([.init("name", text), .init("desc", text)])
        let subject = SampleDocument([
            .init("name", text), .init("desc", text), .init("opt", #"{"level":"Forced","distribution":"Alert"}"#),
        ])
        let message = SampleDocument([
            .init("title", text), .init("desc", text), .init("message", text), .init("topic_key", "\"\(path.topicKey)\""),
            .init("distribution", "\"Alert\""),
        ])
        return [
            Route(method: "POST", target: "/channel", document: named),
            Route(method: "PUT", target: "/channel/\(path.channel)", document: named),
            Route(method: "POST", target: "/area/\(path.channel)", document: named),
            Route(method: "PUT", target: "/area/\(path.channel)/\(path.area)", document: named),
            Route(method: "POST", target: "/subject/\(path.channel)/\(path.area)", document: subject),
            Route(method: "PUT", target: "/subject/\(path.channel)/\(path.area)/\(path.subject)", document: subject),
            Route(method: "POST", target: "/message", document: message),
        ]
    }

    /// Bodies whose length differs from the head's.
    private mutating func framing(of route: Route) -> [BadHTTPRequest] {
        let body = route.document.bytes
        let cut = Int.random(in: 0..<body.count, using: &generator)
        func request(_ fault: String, _ fields: String, _ body: [UInt8], isCutOff: Bool = false) -> BadHTTPRequest {
            let head =
                "\(route.method) \(route.target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n\(fields)\r\n\r\n"
            return BadHTTPRequest(
                description: "\(route.method) \(route.target) with \(fault)", bytes: Array(head.utf8) + body, isCutOff: isCutOff)
        }
        func chunk(_ size: String, _ bytes: [UInt8]) -> [UInt8] { Array("\(size)\r\n".utf8) + bytes }
        let whole = chunk(String(body.count, radix: 16), body)
        let large = chunk("2000", [UInt8](repeating: 0x20, count: 0x2000) + Array("\r\n".utf8))
        let many: [UInt8] = (0..<20).flatMap { _ in large }
        return [
            request("a body that is cut off", "Content-Length: \(body.count)", Array(body.prefix(cut)), isCutOff: true),
            request("a length of too many digits", "Content-Length: 99999999999999999999999", body),
            request("a negative length", "Content-Length: -1", body),
            request("a length in words", "Content-Length: many", body),
            request("two lengths", "Content-Length: \(body.count)\r\nContent-Length: 1", body),
            request("no length", "X-Nothing: here", body),
            request("a length and chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked", whole),
            request("an unknown encoding", "Transfer-Encoding: \(Self.secret)", body),
            request("a chunk of a bad size", "Transfer-Encoding: chunked", chunk("zz", body)),
            request("a chunk of a huge size", "Transfer-Encoding: chunked", chunk("ffffffffffffffffff", body)),
            request("chunks that are cut off", "Transfer-Encoding: chunked", whole, isCutOff: true),
            request("too much in chunks", "Transfer-Encoding: chunked", many + Array("0\r\n\r\n".utf8)),
        ]
    }

    // MARK: Targets

    private mutating func targets() -> [BadHTTPRequest] {
        let channel = path.channel
        let targets = [
            "/%zz", "/%", "//area//", "/channel/%00", "/channel/%ff%fe", "/area/\(channel)/%2e%2e%2f",
            "/channel/../../etc/passwd",
            "/message/%F0%9F%8E%93", "/message/\(String(repeating: "a", count: 10_000))",
            "/subject/\(channel)/\(channel)/%c0%80", "/message?limit=%", "/message?limit=%ff", "/message?limit=1e1",
            "/message?limit=-9223372036854775809", "/message?before=%00", "/message?before=99999999999999999999-\(channel)",
            "/message?before=\(String(repeating: "9", count: 5_000))", "/message?limit=5&before=", "/message?limit=0x10",
            "/message?before=1-2-3-4", "/problems/%3Cscript%3E", "/problems/\(Self.secret)",
            "/message/\(channel)\u{0}", "/\u{e9}", "channel", "*", "?", "http:///nothing", "/channel /x", "",
        ]
        return targets.flatMap { target in
            ["GET", "DELETE"].map { method in
                BadHTTPRequest(
                    description: "\(method) \(target.prefix(60))", bytes: request(method, target))
            }
        }
    }

    // MARK: Heads

    private mutating func heads() -> [BadHTTPRequest] {
        let good = "Host: 127.0.0.1\r\nConnection: close\r\n"
        var heads: [(String, [UInt8])] = []
        for method in [
            "BREW", "get", "PROPFIND", "M-SEARCH", "CONNECT", String(repeating: "X", count: 300), "G\u{0}T", "GE T", "",
        ] {
            heads.append(("method \(method.prefix(20))", request(method, "/area/\(path.channel)")))
        }
        for line in [
            "GET /nowhere", "GET /nowhere HTTP/9.9", "GET /nowhere HTTP/1.1.1", "GET /nowhere FTP/1.1", "/nowhere", "GET",
        ] {
            heads.append(("line \(line)", Array("\(line)\r\n\(good)\r\n".utf8)))
        }
        let fields: [String] = [
            "No colon", ": no name", "Bad Name: x", "X-Nul: a\u{0}b", "X-Bell: \u{7}\u{1b}[2J", " folded: x", "X\u{e9}: y",
            "X-Long: \(String(repeating: Self.secret, count: 20_000))", "Host: other", "Expect: the-unexpected",
            "Upgrade: websocket\r\nConnection: Upgrade", "If-Match: \(String(repeating: "\"", count: 1_000))",
            "traceparent: 00-\(String(repeating: "f", count: 1_000))-01", "Origin: \(String(repeating: "é", count: 500))",
            "\(String(repeating: "X-Many: 1\r\n", count: 3_000))X-Last: 1",
        ]
        for field in fields {
            heads.append(("field \(field.prefix(30))", Array("GET /nowhere HTTP/1.1\r\n\(good)\(field)\r\n\r\n".utf8)))
        }
        let greeting: [UInt8] = [0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]
        let noise = (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        heads += [
            ("noise", noise),
            ("a TLS greeting", greeting + noise.prefix(194)),
            ("HTTP/2", Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)),
            ("lines without carriage returns", Array("GET /nowhere HTTP/1.1\nHost: x\nConnection: close\n\n".utf8)),
            ("NULs", [UInt8](repeating: 0, count: 10_000)),
            ("empty lines", [UInt8](repeating: 10, count: 10_000)),
        ]
        return heads.map { BadHTTPRequest(description: $0, bytes: $1, isCutOff: true) }
    }
}
