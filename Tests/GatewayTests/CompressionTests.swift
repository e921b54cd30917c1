import Base
import Foundation
@testable import Gateway
import HTTPTypes
import Hummingbird
import NIOCore
import Schemas
import Subprocess
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Compressed answers.
@Suite("Compression", .timeLimit(.minutes(10)))
struct CompressionTests {
    private static let text = "\"" + String(repeating: "The library opens late. ", count: 200) + "\""
    private static let json = ByteBuffer(string: text)
    private static let gzip = ["Accept-Encoding": "gzip, deflate, br"]

    private typealias Get = @Sendable (String, String, [String: String]) async throws -> HTTPAnswer

    private static func with(_ routes: [Route], _ body: @escaping @Sendable (_ get: Get) async throws -> Void) async throws {
        try await withRouteServer(routes) { port in
            try await body { method, target, headers in
                try #require(
                    try await HTTPConversation.send(
                        HTTPConversation.request(method, target, headers: headers, body: method == "POST" ? [] : nil), to: port))
            }
        }
    }

    @Test("JSON is compressed for clients that accept it, with the length of what is sent, and other caches are told")
    func documents() async throws {
        let routes = [
            Route(.get, "/large", right: .anyone, answer: .ok(String.self)) { _ in
                Answer(json: Self.json, headers: [.vary: "Cookie"])
            },
            Route(.get, "/value", right: .anyone, answer: .ok([String].self)) { _ in
                Answer(Array(repeating: "The library opens late.", count: 200))
            },
            Route(.get, "/small", right: .anyone, answer: .ok(String.self)) { _ in Answer("small") },
        ]
        try await Self.with(routes) { get in
            let plain = try await get("GET", "/large", [:])
            #expect(plain.text == Self.text && plain["content-encoding"] == nil)
            #expect(plain["vary"] == "Cookie, Accept-Encoding")
            let answer = try await get("GET", "/large", Self.gzip)
            #expect(answer.status == 200 && answer["content-encoding"] == "gzip" && answer["content-type"] == "application/json")
            #expect(answer["content-length"] == "\(answer.body.count)" && answer.body.count < Self.text.utf8.count / 10)
            #expect(answer["vary"] == "Cookie, Accept-Encoding")
            #expect(try await answer.body.decompressed == Data(Self.text.utf8))
            let head = try await get("HEAD", "/large", Self.gzip)
            #expect(head.body.isEmpty && head["content-length"] == answer["content-length"] && head["content-encoding"] == "gzip")
            let value = try await get("GET", "/value", Self.gzip)
            #expect(value["content-encoding"] == "gzip" && value["vary"] == "Accept-Encoding")
            #expect(try await value.body.decompressed == Data(try await get("GET", "/value", [:]).body))
            let small = try await get("GET", "/small", Self.gzip)
            #expect(small.text == "\"small\"" && small["content-encoding"] == nil && small["vary"] == nil)
            #expect(try await get("GET", "/large", ["Accept-Encoding": "gzip;q=0, br"]).text == Self.text)
        }
    }

    @Test("Answers to other methods are not compressed: they may have a secret beside a text of the request")
    func secrets() async throws {
        let routes = [
            Route(.post, "/secret", right: .anyone, answer: .ok(String.self)) { _ in Answer(json: Self.json) }
        ]
        try await Self.with(routes) { post in
            let secret = try await post("POST", "/secret", Self.gzip)
            #expect(secret.text == Self.text && secret["content-encoding"] == nil && secret["vary"] == nil)
        }
    }

    @Test("A compressed document has another tag, and either tag is known, including as the version of an edit")
    func tags() async throws {
        let shared = SharedBody(Self.json)
        let routes = [
            Route(.get, "/shared", right: .anyone, answer: .ok(String.self)) { call in
                Answer(shared: shared, tag: #""v17-open""#, for: call.request)
            },
            Route(.put, "/shared", right: .anyone, answer: .noContent) { call in
                let seen: CubeTag? = try call.unchangedSince(of: "the cube")
                #expect(seen?.version.description == "17" && seen?.showsAccess == false)
                return Answer()
            },
        ]
        try await Self.with(routes) { get in
            let plain = try await get("GET", "/shared", [:])
            let answer = try await get("GET", "/shared", Self.gzip)
            #expect(plain["etag"] == #""v17-open""# && answer["etag"] == #""v17-open-gzip""#)
            #expect(try await answer.body.decompressed == Data(plain.body))
            for (known, tag) in [(#""v17-open-gzip""#, #""v17-open-gzip""#), (#""v17-open""#, #""v17-open""#)] {
                for headers in [Self.gzip, [:]] {
                    let unchanged = try await get("GET", "/shared", headers.merging(["If-None-Match": known]) { $1 })
                    #expect(unchanged.status == 304 && unchanged["etag"] == tag && unchanged.body.isEmpty, "\(unchanged)")
                    #expect(unchanged["vary"] == "Accept-Encoding")
                }
                #expect(try await get("PUT", "/shared", ["If-Match": known]).status == 204)
            }
            #expect(try await get("GET", "/shared", Self.gzip.merging(["If-None-Match": "\"v16-gzip\""]) { $1 }).status == 200)
        }
    }

    @Test("A CSV file is compressed part by part, and each part can be read before the next one comes")
    func csv() async throws {
        let line = CSVLine(["The library", "opens late."])
        let waits = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let routes = [
            Route(.get, "/csv", right: .anyone, answer: .ok("text/csv")) { call in
                Answer<NoContent>.csv(
                    "a.csv", header: line, for: call.request, on: call.context.channel,
                    first: CSVPart(lines: Array(repeating: line, count: 5_000), next: 1)
                ) { part in
                    await withCheckedContinuation { waiting in waits.withLock { $0 = waiting } }
                    return CSVPart(lines: Array(repeating: line, count: 5_000), next: part < 3 ? part + 1 : nil)
                }
            }
        ]
        try await Self.with(routes) { get in
            async let answer = get("GET", "/csv", Self.gzip)
            for _ in 1...3 {
                // The part before has been written.
                try await eventually { waits.withLock { $0 != nil } }
                waits.withLock { waiting in
                    waiting?.resume()
                    waiting = nil
                }
            }
            let file = try await answer
            #expect(file["content-encoding"] == "gzip" && file["vary"] == "Accept, Accept-Encoding")
            #expect(try await file.body.decompressed == Data(String(repeating: line.text, count: 20_001).utf8))
        }
    }

    @Test("What would not be smaller is sent as it is, and a stream's parts come out as they went in")
    func bytes() async throws {
        var noise = ByteBuffer()
        for _ in 0..<1_000 { noise.writeInteger(UInt64.random(in: .min ... .max)) }
        #expect(Gzip.compress(noise) == nil)
        let stream = GzipStream()
        let first = stream.compress(noise, isLast: false)
        #expect(first.readableBytes >= noise.readableBytes)
        let rest = stream.compress(ByteBuffer(), isLast: true)
        let all = Data(first.readableBytesView) + Data(rest.readableBytesView)
        #expect(try await all.decompressed == Data(noise.readableBytesView))
    }
}

extension Data {
    /// What gzip has compressed, by another implementation than the gateway's.
    var decompressed: Data {
        get async throws {
            let gzip = try await Subprocess.run(
                .path("/usr/bin/gzip"), arguments: ["--decompress", "--stdout"], input: .array([UInt8](self)),
                output: .bytes(limit: 10_000_000), error: .discarded)
            return Data(gzip.standardOutput)
        }
    }
}
