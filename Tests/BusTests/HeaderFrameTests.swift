import FoundationEssentials
import Base
import Schemas
import Testing

@testable import Bus

/// The quick readers and writers of headers agree with ``JSONCoder``.
@Suite("Fast readers and writers of headers")
struct HeaderFrameTests {
    static let texts = [
        "a", "area.add", " ", "", "quote \" backslash \\ slash /", "\u{8}\u{9}\u{A}\u{C}\u{D}\u{1}\u{1F}\u{7F}", "emoji 🎓",
        "مرحبا", "\u{2028}", String(repeating: "x", count: 100), String(repeating: "é", count: 101),
    ]

    @Test("The fast header writer writes the same bytes as the JSON coder", arguments: texts)
    func writersAgree(text: String) throws {
        for number in [nil, 0, 1_763_712_000_123, -1, Int64.max, Int64.min] {
            let header = RequestHeader(
                id: text, command: text, timeout: number.map(Milliseconds.init(rawValue:)),
                deadline: number.map(UnixMilliseconds.init(rawValue:)), traceparent: text, actor: text, address: text,
                credential: CredentialHash(
                    digest: text.utf8.prefix(32) + Array(repeating: 7, count: max(0, 32 - text.utf8.count))))
            #expect(frame { header.append(to: &$0) } == (try JSONCoder.encode(header)))
        }
        let bare = RequestHeader(id: text, command: "c")
        #expect(frame { bare.append(to: &$0) } == (try JSONCoder.encode(bare)))
        for status in ReplyStatus.allCases {
            let reply = ReplyHeader(id: text, status: status)
            #expect(frame(reply.append) == (try JSONCoder.encode(reply)))
        }
    }

    static let headers = [
        #"{"id":"1","command":"a.b"}"#, #"{ "id" : "1" , "command" : "a.b" }"#, #"{"command":"a","id":"1","deadline":0}"#,
        #"{"id":"1","command":"a","deadline":1763712000123,"traceparent":"00-x","actor":"ann"}"#,
        #"{"id":"1","command":"a","deadline":00}"#, #"{"id":"1","command":"a","deadline":-5}"#,
        #"{"id":"1","command":"a","deadline":1.5}"#, #"{"id":"1","command":"a","deadline":1e3}"#,
        #"{"id":"1","command":"a","deadline":99999999999999999999}"#, #"{"id":"1","command":"a","deadline":"5"}"#,
        #"{"id":"1","command":"a","timeout":5000,"deadline":7}"#, #"{"id":"1","command":"a","timeout":-1}"#,
        #"{"id":"1","command":"a","timeout":"5"}"#, #"{"id":"1","command":"a","timeout":1,"timeout":2}"#,
        #"{"id":"1","command":"a","deadline":null}"#, #"{"id":"1","command":"a","actor":7}"#,
        #"{"id":"1","command":"a","actor":""}"#, #"{"id":"1","command":"a","actor":" "}"#,
        #"{"id":"1","command":"a","actor":"a\u0000b"}"#,
        "{\"id\":\"1\",\"command\":\"a\",\"actor\":\"\(String(repeating: "ä", count: 200))\"}",
        "{\"id\":\"1\",\"command\":\"a\",\"actor\":\"\(String(repeating: "a", count: 201))\"}",
        #"{"id":"1","command":"a","actor":"ann","address":"2001:db8::7"}"#, #"{"id":"1","command":"a","address":"192.0.2.7"}"#,
        #"{"id":"1","command":"a","address":7}"#, #"{"id":"1","command":"a","address":" "}"#,
        #"{"id":"1","command":"a","address":"a","address":"b"}"#,
        "{\"id\":\"1\",\"command\":\"a\",\"address\":\"\(String(repeating: "a", count: 64))\"}",
        "{\"id\":\"1\",\"command\":\"a\",\"address\":\"\(String(repeating: "a", count: 65))\"}",
        "{\"id\":\"1\",\"command\":\"a\",\"credential\":\"\(String(repeating: "0f", count: 32))\"}",
        "{\"id\":\"1\",\"command\":\"a\",\"credential\":\"\(String(repeating: "0F", count: 32))\"}",
        #"{"id":"1","command":"a","credential":"0f"}"#, #"{"id":"1","command":"a","credential":7}"#,
        #"{"id":"","command":"a"}"#, #"{"id":"  ","command":"a"}"#, #"{"id":"1"}"#, #"{"command":"a"}"#, "{}", "", "[]", "null",
        #"{"id":"1","command":"a","extra":1}"#, #"{"id":"1","id":"2","command":"a"}"#, #"{"id":"1","command":"a"} x"#,
        #"{"id":"1","command":"a",}"#, #"{"id":"1" "command":"a"}"#,
        #"{"id" "command":"a","id":"7"}"#, #"{"id"xcommand":"a","id":"7"}"#, #"{"id" "status":"ok","id":"7"}"#,
        #"{"id":"\u0041","command":"a"}"#,
        #"{"id":"é","command":"a"}"#,
        #"{"id":1,"command":"a"}"#, #"{"id":"1","command":"a""#, "\n{\"id\":\"1\",\t\"command\":\"a\"}\r\n",
        "{\"id\":\"\(String(repeating: "x", count: 101))\",\"command\":\"a\"}", #"{"id":"1","status":"ok"}"#,
        #"{"id":"1","status":"not_found"}"#, #"{"id":"1","status":"fine"}"#, #"{"id":"","status":"ok"}"#, #"{"status":"ok"}"#,
        #"{"id":"1","status":"ok","more":true}"#,
    ]

    @Test("The fast header readers read and refuse the same headers as the JSON coder", arguments: headers)
    func readersAgree(text: String) {
        let frame = Array(text.utf8)
        #expect(outcome { try received(frame) } == outcome { try JSONCoder.decodeStrictly(from: Data(frame)) })
    }

    /// With any single byte of a header changed, both read the same, or both refuse it.
    @Test("The fast header reader and the JSON coder agree on every damaged header")
    func readersAgreeOnDamage() {
        let original = Array(#"{"id":"7f","command":"area.add","deadline":1763712000123,"actor":"ann","address":"::1"}"#.utf8)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            var frame = original
            frame[Int.random(in: 0..<frame.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            #expect(
                outcome { try received(frame) } == outcome { try JSONCoder.decodeStrictly(from: Data(frame)) },
                "\(String(decoding: frame, as: UTF8.self))")
        }
    }

    @Test("A request's number is read back from its id")
    func idsComeBack() {
        let ids = RequestIDFormat()
        for id in [0, 1, 255, 1 << 35, (1 << 36) - 1] as [UInt64] {
            #expect(ids.text(id).utf8.count == 15)
            #expect(ids.number(ids.text(id)) == id)
        }
        #expect(ids.number("") == nil)
        #expect(ids.number("zzzzzzzzzzzzzzz") == nil)
        #expect(ids.number(ids.text(0xABC).uppercased()) == nil)
    }

    private func frame(_ append: (inout JSONBytes) -> Void) -> Data {
        var json = JSONBytes(capacity: 16)
        append(&json)
        return Data(json.bytes)
    }

    /// A request's header as a service reads it.
    private func received(_ frame: [UInt8]) throws -> RequestHeader {
        try frame.withUnsafeBytes { try ReceivedHeader($0).read().fields }
    }

    private func outcome<Header: Equatable>(_ read: () throws -> Header) -> Header? {
        do {
            return try read()
        } catch {
            return nil
        }
    }
}
