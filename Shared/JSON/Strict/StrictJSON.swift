import FoundationEssentials

/// Checks that bytes are JSON as RFC 8259 has it, in UTF-8 without a byte order mark, and that no object has two fields of one
/// name.
struct StrictJSON: ~Copyable {
    /// A step of the way to a value.
    private enum Step {
        case field(String)
        case element(Int)
    }

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var path: [Step] = []

    /// As deep as Foundation's decoder reads.
    private static let maxDepth = 512

    /// - Throws: ``SchemaViolation`` that says what is wrong, and where.
    static func check(_ json: Data) throws(SchemaViolation) {
        let violation = json.withUnsafeBytes { bytes -> SchemaViolation? in
            do throws(SchemaViolation) {
                try checkEncoding(bytes)
                var check = StrictJSON(bytes: bytes)
                try check.document()
                return nil
            } catch {
                return error
            }
        }
        if let violation { throw violation }
    }

    private init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    private static func checkEncoding(_ bytes: UnsafeRawBufferPointer) throws(SchemaViolation) {
        let start = Array(bytes.prefix(4))
        if start.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw SchemaViolation(field: "", problem: "not valid JSON: it begins with a byte order mark")
        }
        // Two zeros or one among the first four bytes of a document that begins with ASCII.
        if start.contains(0) || start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) {
            throw SchemaViolation(field: "", problem: "not valid JSON: expected UTF-8, found what looks like UTF-16 or UTF-32")
        }
        if (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) == nil {
            throw SchemaViolation(field: "", problem: "not valid JSON: it is not UTF-8")
        }
    }

    private mutating func document() throws(SchemaViolation) {
        try value(Self.maxDepth)
        if peek() != nil { throw failure("expected the end") }
    }

    private mutating func value(_ depth: Int) throws(SchemaViolation) {
        switch peek() {
        case UInt8(ascii: "{"): try object(depth)
        case UInt8(ascii: "["): try array(depth)
        case UInt8(ascii: "\""): _ = try text()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try number()
        }
    }

    // MARK: Objects and arrays

    private mutating func object(_ depth: Int) throws(SchemaViolation) {
        try open(depth)
        if take(UInt8(ascii: "}")) { return }
        var names: Set<String> = []
        repeat {
            guard peek() == UInt8(ascii: "\"") else { throw failure("expected a field's name in double quotes") }
            let name = try name()
            path.append(.field(name))
            guard names.insert(name).inserted else {
                throw SchemaViolation(field: pathText, problem: "there twice, expected at most once")
            }
            guard take(UInt8(ascii: ":")) else { throw failure("expected a colon") }
            try value(depth - 1)
            path.removeLast()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw failure("expected a comma or }") }
    }

    private mutating func array(_ depth: Int) throws(SchemaViolation) {
        try open(depth)
        if take(UInt8(ascii: "]")) { return }
        var index = 0
        repeat {
            path.append(.element(index))
            try value(depth - 1)
            path.removeLast()
            index += 1
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw failure("expected a comma or ]") }
    }

    private mutating func open(_ depth: Int) throws(SchemaViolation) {
        guard depth > 0 else { throw failure("expected at most \(Self.maxDepth) levels") }
        position += 1
    }

    // MARK: Texts

    /// A name with its escapes replaced: two spellings of one name are one name.
    private mutating func name() throws(SchemaViolation) -> String {
        let start = position
        let hasEscapes = try text()
        if hasEscapes, let name = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<position])) { return name }
        return String(decoding: bytes[(start + 1)..<(position - 1)], as: UTF8.self)
    }

    /// - Returns: Whether it has escapes.
    private mutating func text() throws(SchemaViolation) -> Bool {
        position += 1
        var hasEscapes = false
        while true {
            position = bytes.plainCharacters(from: position).end
            guard position < bytes.count else { throw failure("expected a double quote") }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return hasEscapes
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape()
            default: throw failure("expected no control character in a text")
            }
        }
    }

    private mutating func escape() throws(SchemaViolation) {
        let letter = position + 1 < bytes.count ? bytes[position + 1] : 0
        if letter == UInt8(ascii: "u") { return try character() }
        guard "\"\\/bfnrt".utf8.contains(letter) else { throw failure("expected an escape of JSON's") }
        position += 2
    }

    /// `\u` and four digits, and the other half of it where it is one half of a pair.
    private mutating func character() throws(SchemaViolation) {
        guard let first = codeUnit(at: position) else { throw failure("expected four hexadecimal digits") }
        switch first {
        case 0xD800...0xDBFF:
            guard let second = codeUnit(at: position + 6), (0xDC00...0xDFFF).contains(second) else {
                throw failure("expected a surrogate pair")
            }
            position += 12
        case 0xDC00...0xDFFF: throw failure("expected a surrogate pair")
        default: position += 6
        }
    }

    private func codeUnit(at start: Int) -> UInt16? {
        guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"), bytes[start + 1] == UInt8(ascii: "u") else {
            return nil
        }
        let digits = bytes[(start + 2)..<(start + 6)]
        guard digits.allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }) else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    // MARK: Words and numbers

    private mutating func word(_ word: StaticString) throws(SchemaViolation) {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, UnsafeRawBufferPointer(rebasing: bytes[position..<end]).spells(word) else {
            throw failure("expected a value")
        }
        position = end
    }

    private mutating func number() throws(SchemaViolation) {
        let start = position
        skip(UInt8(ascii: "-"))
        let first = position
        guard skipDigits() > 0 else {
            position = start
            throw failure("expected a value")
        }
        if bytes[first] == UInt8(ascii: "0"), position > first + 1 { throw failure("expected a number without leading zeros") }
        if skip(UInt8(ascii: ".")), skipDigits() == 0 { throw failure("expected a digit") }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { skip(UInt8(ascii: "-")) }
            if skipDigits() == 0 { throw failure("expected a digit") }
            try checkSize(of: bytes[start..<position])
        }
    }

    /// Refuses a number that is too large to be represented, and one that is so small that it would be read as 0.
    private func checkSize(of digits: Slice<UnsafeRawBufferPointer>) throws(SchemaViolation) {
        let value = Double(String(decoding: digits, as: UTF8.self)) ?? .infinity
        let mantissa = digits.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
        let isZero = !mantissa.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
        if !value.isFinite || (value == 0 && !isZero) { throw failure("expected a number that fits 64 bits") }
    }

    /// - Returns: How many there were.
    private mutating func skipDigits() -> Int {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        return position - start
    }

    // MARK: Bytes

    /// The next byte that is not white space.
    private mutating func peek() -> UInt8? {
        position = bytes.skippingWhiteSpace(from: position)
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Takes a byte that follows without white space.
    @discardableResult
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    // MARK: Words for what is wrong

    private func failure(_ expected: String) -> SchemaViolation {
        let place = position < bytes.count ? "at byte \(position)" : "at the end"
        return SchemaViolation(field: "", problem: "not valid JSON: \(expected) \(place)")
    }

    private var pathText: String {
        var text = ""
        for step in path {
            switch step {
            case .field(let name): text += text.isEmpty ? name : ".\(name)"
            case .element(let index): text += "[\(index)]"
            }
        }
        return String(text.prefix(200))
    }
}
