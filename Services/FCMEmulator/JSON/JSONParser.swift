/// Reads one JSON document (RFC 8259), strictly.
struct JSONParser {
    /// A syntax error and its position.
    struct Failure: Error, Hashable {
        /// The problem, in the words of Google's own parser.
        let problem: String
        /// The position, in bytes from the start.
        let offset: Int
    }

    /// The maximum depth of nesting, as in protobuf's JSON.
    private static let deepest = 100

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// - Throws: ``Failure``, and nothing else.
    static func parse(_ bytes: some Collection<UInt8>) throws -> JSONValue {
        let parsed = try bytes.withContiguousStorageIfAvailable { try parse(buffer: $0) }
        return try parsed ?? parse(Array(bytes))
    }

    private static func parse(buffer: UnsafeBufferPointer<UInt8>) throws -> JSONValue {
        var parser = JSONParser(bytes: buffer)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.position == buffer.count else { throw parser.failure("Expected end of string.") }
        return value
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    private mutating func value(depth: Int) throws -> JSONValue {
        skipSpace()
        guard depth <= Self.deepest else { throw failure("Message too deep. Max recursion depth reached.") }
        guard let byte = current else { throw failure("Unexpected end of string. Expected a value.") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw failure("Expected a value.")
        }
    }

    private mutating func object(depth: Int) throws -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw failure("Expected an object key or }.") }
            let name = try string()
            skipSpace()
            guard take(":") else { throw failure("Expected : between key:value pair.") }
            members.append(.init(name, try value(depth: depth + 1)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw failure("Expected , or } after key:value pair.") }
        }
    }

    private mutating func array(depth: Int) throws -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw failure("Expected , or ] after array value.") }
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[index] else { throw failure("Unexpected token.") }
            position += 1
        }
        return value
    }

    private mutating func number() throws -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws {
        let start = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw failure("Unable to parse number.") }
    }

    private mutating func string() throws -> String {
        position += 1
        let start = position
        while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        if current == UInt8(ascii: "\"") {
            // Fast path: a text without escapes is decoded in one piece.
            let text = try text(bytes[start..<position])
            position += 1
            return text
        }
        var content = Array(bytes[start..<position])
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try content.withUnsafeBufferPointer { try self.text($0[...]) }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                position += 1
                content += try escape()
            case 0..<0x20:
                throw failure("Invalid control character in string.")
            default:
                content.append(byte)
                position += 1
            }
        }
        throw failure("Closing quote expected in string.")
    }

    private func text(_ content: Slice<UnsafeBufferPointer<UInt8>>) throws -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw failure("Encountered non UTF-8 code points.")
        }
        return text
    }

    private mutating func escape() throws -> [UInt8] {
        let byte = current
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte ?? 0]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(try unicodeEscape()).utf8)
        default: throw failure("Invalid escape sequence.")
        }
    }

    /// Reads the part after `\u`: four digits, or a surrogate pair.
    private mutating func unicodeEscape() throws -> Character {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard (0xD800..<0xDC00).contains(first), take("\\"), take("u") else {
            throw failure("Invalid unicode code point.")
        }
        let second = try codeUnit()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x1_0000 + UInt32(first - 0xD800) << 10 + UInt32(second - 0xDC00))
        else { throw failure("Invalid low surrogate.") }
        return Character(scalar)
    }

    private mutating func codeUnit() throws -> UInt16 {
        guard bytes.count - position >= 4,
            let unit = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
            bytes[position] != UInt8(ascii: "+")
        else { throw failure("Illegal hex string.") }
        position += 4
        return unit
    }

    private var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func failure(_ problem: String) -> Failure {
        Failure(problem: problem, offset: position)
    }
}
