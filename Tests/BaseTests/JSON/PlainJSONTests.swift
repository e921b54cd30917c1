import FoundationEssentials
@testable import Base
import Testing

@testable import Schemas

/// The coder agrees with Foundation's on every document that both accept.
@Suite("Plain JSON")
struct PlainJSONTests {
    static let texts = [
        "a", "", " ", "quote \" backslash \\ slash /", "\u{8}\u{9}\u{A}\u{C}\u{D}\u{1}\u{1F}\u{7F}", "emoji 🎓 مرحبا",
        "\u{2028}\u{0}", "e\u{301}", String(repeating: "ä", count: 300),
    ]

    @Test("Documents are written with the same bytes as by Foundation, and read back equal", arguments: texts)
    func documents(text: String) throws {
        let key = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let subject = Subject(
            id: key.subject, name: text, desc: text, access: [text, "b"], topicKey: key,
            opt: SubjectOptions(level: .optional, distribution: .information), tags: [])
        let area = Area(id: key.area, name: "a", desc: text, subjects: [subject, subject])
        try check(CubeSnapshot(version: 17, channels: [Channel(id: key.channel, name: text, desc: "", areas: [area])]))
        try check(CubeSnapshot(version: CubeVersion(rawValue: .max / 10), channels: []))
        let draft = MessageContent(
            title: text, desc: text, message: text, topicKey: key, distribution: .alert, ttl: 0, sendAt: 1_763_712_000_123)
        var relay = RelayRecord(logged: .alert, due: 5, lease: Lease(owner: text, until: 7))
        relay.components[0].error = DeliveryError(class: .retryable, code: text, message: text, retryAfter: 60_000)
        try check(
            Message(
                msiKey: ObjectID(), content: draft, sender: text, timestamp: 1,
                names: CubeNames(channel: text, area: text, subject: text), expires: 2, idempotencyKey: text, relay: relay))
        try check(
            ["b": [text: true], "a_b": [:], "ab": ["x": false], "B": [:], "a": [:], "a-b": [:]].filter { _ in text == "a" })
        try check(RequestHeader(id: text, command: text, deadline: 1, actor: text, address: text), strict: false)
        try check(Done())
    }

    private func check<Value: Codable & Equatable>(_ value: Value, strict: Bool = true) throws {
        let json = try foundation(value)
        let plain = try JSONCoder.encode(value)
        #expect(String(decoding: plain, as: UTF8.self) == String(decoding: json, as: UTF8.self))
        guard strict else { return }
        #expect(try JSONCoder.decode(Value.self, from: json) == value)
    }

    private func foundation(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    static let addAreas = [
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"Library","desc":"Opening hours"}}"#,
        "\n{ \"area\" : {\"desc\":\"\\n\\/\\\"\\\\\\b\\f\\r\\t\",\"name\":\"é\"}\t,\"channelID\":\"0123456789abcdefABCDEF01\"}\r\n",
    ]

    static let oddities = [
        "", "{", "{}", "[]", "null", "7", "\"\"", "{} x", "[1,]", #"{"area":{},}"#, "{\"\u{0}\":1}", "\u{FEFF}{}",
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"a","desc":"b"},"channelID":"0123456789abcdefABCDEF02"}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"a","desc":"b","desc":"c"}}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"a","desc":"b"},"more":1}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"a","desc":null}}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"a","desc":1}}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"a"}}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":["a","b"]}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":" ","desc":""}}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"n\u0061me":"a","desc":"\u0041\ud83c\udf93"}}"#,
        #"{"channelID":"0123456789abcdefABCDEF01","area":{"name":"\ud83c","desc":"b"}}"#,
        #"{"channelID":"0123456789abcdefABCDEF0","area":{"name":"a","desc":"b"}}"#,
        #"{'channelID':"0123456789abcdefABCDEF01"}"#,
    ]

    @Test("A command is read as Foundation reads it, or refused", arguments: addAreas + oddities)
    func commands(text: String) {
        compare(AddArea.self, Data(text.utf8)) { "\($0.channelID) \($0.area)" }
    }

    static let figures = [
        "0", "-0", "1", "-1", "00", "01", "+1", "1.0", "1.5", "1e3", "1E-1", "-", "0x1", "9007199254740993", "999999999999999999",
        "1000000000000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999999",
        "true", "null", "\"1\"", "1 2", "",
    ]

    @Test("A number is read as Foundation reads it, or refused", arguments: figures)
    func numbers(text: String) {
        compare([Int64].self, Data("[\(text)]".utf8)) { "\($0)" }
        compare([UInt8].self, Data("[\(text)]".utf8)) { "\($0)" }
        compare([Double].self, Data("[\(text)]".utf8)) { "\($0)" }
        compare([Bool].self, Data("[\(text)]".utf8)) { "\($0)" }
        compare([String?].self, Data("[\(text)]".utf8)) { "\($0)" }
    }

    @Test("Every document with a changed byte is read or refused alike")
    func damage() {
        var random = SeededGenerator(seed: 7)
        for original in Self.addAreas.map({ Array($0.utf8) }) {
            for _ in 0..<3_000 {
                compare(AddArea.self, Self.damaged(original, &random)) { "\($0.channelID) \($0.area)" }
            }
        }
    }

    @Test("The first character of a string that needs more work is found at every position")
    func plainCharacters() {
        for byte in UInt8.min...UInt8.max {
            let isPlain = byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            for position in 0..<20 {
                var text = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
                text[position] = byte
                for start in 0...position {
                    let found = text.withUnsafeBytes { $0.plainCharacters(from: start) }
                    #expect(found.end == (isPlain ? 20 : position))
                    #expect(found.isASCII == (byte < 0x80))
                }
            }
        }
    }

    /// A document with one byte changed, removed or added.
    static func damaged(_ original: [UInt8], _ random: inout SeededGenerator) -> Data {
        var json = original
        let position = Int.random(in: 0..<json.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: json[position] = UInt8.random(in: 0...255, using: &random)
        case 1: json.remove(at: position)
        default: json.insert(original[Int.random(in: 0..<original.count, using: &random)], at: position)
        }
        return Data(json)
    }

    /// Bytes that are no UTF-8.
    static let noUTF8: [[UInt8]] = [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]]

    @Test("Invalid UTF-8 is refused at every position")
    func encoding() {
        for bytes in Self.noUTF8 {
            compare([String].self, Data(Array("[\"".utf8) + bytes + Array("\"]".utf8))) { "\($0)" }
            compare(Tolerant.self, Data(Array("{\"other\":\"".utf8) + bytes + Array("\"}".utf8))) { "\($0)" }
            compare(Tolerant.self, Data(Array("{\"".utf8) + bytes + Array("\":1}".utf8))) { "\($0)" }
        }
        // One name, written in two ways.
        compare([String: Int].self, Data("{\"e\u{301}\":1,\"\u{E9}\":2}".utf8)) { "\($0.count)" }
    }

    @Test("Deep and long documents are read")
    func size() {
        for depth in [31, 32, 33, 100, 600] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            compare(Tolerant.self, Data("{\"other\":\(text)}".utf8)) { "\($0)" }
        }
        let fields = (0..<200).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        compare([String: Int].self, Data("{\(fields)}".utf8)) { "\($0.sorted { $0.key < $1.key })" }
        compare([Int].self, Data("[\((0..<500).map(String.init).joined(separator: ","))]".utf8)) { "\($0)" }
    }

    @Test("Types with their own encode(to:) are written as by Foundation")
    func handwritten() throws {
        for form in Handwritten.allCases { #expect(try JSONCoder.encode([form]) == foundation([form]), "\(form)") }
    }

    @Test("A nested container that is written into after the next field has begun is an error")
    func interleaved() {
        #expect(throws: EncodingError.self) { try JSONCoder.encode(Interleaved()) }
    }

    static let fractionFigures: [Double] = [
        0, -0.0, 1, -1, 0.1, 1.5, 1e3, 1e15, 1e16, 1e100, 1e-7, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi,
        123_456_789.25,
    ]

    @Test("A fraction is written as Foundation does, and read back equal", arguments: fractionFigures)
    func fractions(number: Double) throws {
        #expect(try JSONCoder.encode([number]) == foundation([number]))
        #expect(try JSONCoder.decode([Double].self, from: JSONCoder.encode([number])) == [number])
        let short = Float(number)
        if short.isFinite { #expect(try JSONCoder.encode([short]) == foundation([short])) }
    }

    @Test("A number that JSON does not have is an error", arguments: [Double.infinity, -.infinity, .nan])
    func noNumbers(number: Double) {
        #expect(throws: EncodingError.self) { try JSONCoder.encode([number]) }
    }

    /// Both decoders find the same value, or ours refuses the document. Foundation's accepts some documents that are not JSON.
    private func compare<Value: Decodable>(_ type: Value.Type, _ json: Data, _ describe: (Value) -> String) {
        let isJSON = (try? JSONCoder.decode(Anything.self, from: json)) != nil
        let expected = isJSON ? (try? JSONDecoder().decode(type, from: json)).map(describe) : nil
        let found = (try? JSONCoder.decode(type, from: json)).map(describe)
        #expect(found == expected, "\(String(decoding: json, as: UTF8.self))")
    }
}

/// Any document.
struct Anything: Decodable {
    init(from decoder: any Decoder) throws {}
}

private struct Tolerant: Decodable {
    let name: String?
}

private struct Interleaved: Encodable {
    private enum Keys: CodingKey {
        case a, b
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var inner = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
        try container.encode(1, forKey: .b)
        try inner.encode(1, forKey: .b)
    }
}

private enum Handwritten: Encodable, CaseIterable {
    case nothing, nested, superior, sameFieldTwice, fieldOfOtherLetters, twoContainers, null

    private enum Keys: String, CodingKey {
        case z, a
        case umlaut = "ä"
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .nothing: break
        case .nested:
            var container = encoder.container(keyedBy: Keys.self)
            var inner = container.nestedContainer(keyedBy: Keys.self, forKey: .z)
            try inner.encode(1, forKey: .a)
            var innermost = inner.nestedUnkeyedContainer(forKey: .z)
            try innermost.encode("c")
            _ = innermost.nestedContainer(keyedBy: Keys.self)
            try container.encode("b", forKey: .a)
            var list = container.nestedUnkeyedContainer(forKey: .umlaut)
            try list.encode(true)
        case .superior:
            var container = encoder.container(keyedBy: Keys.self)
            try "text".encode(to: container.superEncoder(forKey: .z))
            try 5.encode(to: container.superEncoder())
        case .sameFieldTwice:
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(1, forKey: .z)
            try container.encode(2, forKey: .a)
            try container.encode(3, forKey: .z)
        case .fieldOfOtherLetters:
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(1, forKey: .z)
            try container.encode([1, 2], forKey: .umlaut)
        case .twoContainers:
            var first = encoder.container(keyedBy: Keys.self)
            try first.encode(1, forKey: .z)
            var second = encoder.container(keyedBy: Keys.self)
            try second.encode(2, forKey: .a)
        case .null:
            var container = encoder.unkeyedContainer()
            try container.encodeNil()
            try container.encode(UInt8?.none)
            try container.encode(["k": Int?.none])
        }
    }
}
