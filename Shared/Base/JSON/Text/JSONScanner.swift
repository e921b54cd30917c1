public import Glibc

/// The lexical scanner for JSON: brackets and commas, texts, numbers, `true`, `false` and `null`.
@usableFromInline
struct JSONScanner {
    /// The position of a text, without its quotes.
    struct Text {
        let range: Range<Int>
        let hasEscapes: Bool
        let isASCII: Bool
    }

    @usableFromInline let bytes: UnsafeRawBufferPointer
    @usableFromInline var position = 0
    /// Whether all texts so far are ASCII.
    @usableFromInline var isASCII = true

    @inlinable
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func failure(_ problem: JSONSyntaxError.Problem) -> JSONSyntaxError {
        JSONSyntaxError(problem: problem, position: position)
    }

    // MARK: Bytes

    /// The next byte that is not white space.
    @inlinable
    mutating func peek() -> UInt8? {
        position = bytes.skippingWhiteSpace(from: position)
        return position < bytes.count ? bytes[position] : nil
    }

    /// Takes the byte if it is the next one that is not white space.
    @inlinable @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Takes the byte if it follows without white space.
    @discardableResult
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    // MARK: Words

    /// Takes `true`, `false` or `null`.
    mutating func word(_ word: StaticString) throws(JSONSyntaxError) {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, UnsafeRawBufferPointer(rebasing: bytes[position..<end]).spells(word) else {
            throw failure(.expectedValue)
        }
        position = end
    }

    // MARK: Texts

    /// Takes a text, whose opening quote is the next byte.
    mutating func text() throws(JSONSyntaxError) -> Text {
        position += 1
        let start = position
        var hasEscapes = false
        var isASCII = true
        while true {
            let plain = bytes.plainCharacters(from: position)
            position = plain.end
            if !plain.isASCII {
                isASCII = false
                self.isASCII = false
            }
            guard position < bytes.count else { throw failure(.unclosedText) }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return Text(range: start..<(position - 1), hasEscapes: hasEscapes, isASCII: isASCII)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape()
            default: throw failure(.controlCharacter)
            }
        }
    }

    /// Takes a field's name and its colon, if it is this one, without escapes. The scanner is at its quote.
    @inlinable @inline(__always)
    mutating func takeName(_ literal: StaticString) -> Bool {
        let start = position + 1
        let end = start + literal.utf8CodeUnitCount
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\""),
            UnsafeRawBufferPointer(rebasing: bytes[start..<end]).spells(literal)
        else { return false }
        let before = position
        position = end + 1
        if take(UInt8(ascii: ":")) { return true }
        // Another name may begin at the same quote.
        position = before
        return false
    }

    private mutating func escape() throws(JSONSyntaxError) {
        let letter = position + 1 < bytes.count ? bytes[position + 1] : 0
        if letter == UInt8(ascii: "u") { return try unicodeEscape() }
        guard JSONEscape.character(ofLetter: letter) != nil else { throw failure(.unknownEscape) }
        position += 2
    }

    /// `\u` and four digits, and the second half of a surrogate pair after the first.
    private mutating func unicodeEscape() throws(JSONSyntaxError) {
        guard let first = JSONEscape.codeUnit(in: bytes, at: position) else { throw failure(.expectedHexadecimalDigits) }
        switch first {
        case 0xD800...0xDBFF:
            guard let second = JSONEscape.codeUnit(in: bytes, at: position + 6), (0xDC00...0xDFFF).contains(second) else {
                throw failure(.halfOfSurrogatePair)
            }
            position += 12
        case 0xDC00...0xDFFF: throw failure(.halfOfSurrogatePair)
        default: position += 6
        }
    }

    /// Fast path: takes a text without escapes, whose opening quote is the next byte.
    ///
    /// - Returns: `nil` for every other text. The position is undefined then.
    mutating func takePlainText() -> (range: Range<Int>, isASCII: Bool)? {
        let start = position + 1
        let (end, isASCII) = bytes.plainCharacters(from: start)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        position = end + 1
        return (start..<end, isASCII)
    }

    // MARK: Numbers

    /// Fast path: takes an integer of at most 18 digits without a sign.
    ///
    /// - Returns: `nil` for every other number. The position is undefined then.
    mutating func takeShortInteger() -> Int64? {
        let start = position
        var number: Int64 = 0
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            number = number &* 10 &+ Int64(digit)
            position += 1
        }
        let digits = position - start
        // A fraction or an exponent is not followed by a comma, so the caller finds it.
        guard (1...18).contains(digits), digits == 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        return number
    }

    /// Takes a number.
    ///
    /// - Parameter anySize: Whether a number may be too large or too small for 64 bits.
    /// - Returns: Its position, and whether it is an integer of at most 18 digits, which cannot overflow, and not `-0`.
    mutating func number(anySize: Bool) throws(JSONSyntaxError) -> (range: Range<Int>, isShortInteger: Bool) {
        let start = position
        let isNegative = skip(UInt8(ascii: "-"))
        let first = position
        let digits = skipDigits()
        guard digits > 0 else {
            position = start
            throw failure(.expectedValue)
        }
        let leadsWithZero = bytes[first] == UInt8(ascii: "0")
        if leadsWithZero, digits > 1 { throw failure(.leadingZero) }
        var isShortInteger = digits <= 18 && !(isNegative && leadsWithZero)
        if skip(UInt8(ascii: ".")) {
            isShortInteger = false
            if skipDigits() == 0 { throw failure(.expectedDigit) }
        }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isShortInteger = false
            if !skip(UInt8(ascii: "+")) { skip(UInt8(ascii: "-")) }
            if skipDigits() == 0 { throw failure(.expectedDigit) }
            if !anySize, !fits(bytes[start..<position]) { throw failure(.numberDoesNotFit) }
        }
        return (start..<position, isShortInteger)
    }

    /// Whether a number can be represented, and does not underflow to 0.
    private func fits(_ digits: Slice<UnsafeRawBufferPointer>) -> Bool {
        let value = Double(String(decoding: digits, as: UTF8.self)) ?? .infinity
        let mantissa = digits.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
        let isZero = !mantissa.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
        return value.isFinite && (value != 0 || isZero)
    }

    /// - Returns: The number of digits.
    private mutating func skipDigits() -> Int {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        return position - start
    }
}

extension UnsafeRawBufferPointer {
    /// The value of an integer of at most 18 digits, which a ``JSONScanner`` has found.
    var shortInteger: Int64 {
        var number: Int64 = 0
        for byte in self where byte != UInt8(ascii: "-") { number = number &* 10 &+ Int64(byte &- UInt8(ascii: "0")) }
        return first == UInt8(ascii: "-") ? -number : number
    }
}

extension UnsafeRawBufferPointer {
    /// Finds the end of the characters that need no escape in a JSON string, and whether they are ASCII. Quotes, backslashes and
    /// control characters need one. It checks eight bytes at a time.
    func plainCharacters(from start: Int) -> (end: Int, isASCII: Bool) {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var position = start
        var seen: UInt64 = 0
        while position + 8 <= count {
            let word = loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            // A byte's high bit is set if the subtraction made it negative.
            let special =
                ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((word &- ones &* 0x20) & ~word)
            guard special & highs == 0 else { break }
            seen |= word
            position += 8
        }
        while position < count, case let byte = self[position], byte >= 0x20, byte != UInt8(ascii: "\""),
            byte != UInt8(ascii: "\\")
        {
            seen |= UInt64(byte)
            position += 1
        }
        return (position, seen & highs == 0)
    }
}

extension UnsafeRawBufferPointer {
    /// The position of the next byte that is not JSON white space, or the end.
    @inlinable
    public func skippingWhiteSpace(from start: Int) -> Int {
        var position = start
        while position < count {
            switch self[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return position
            }
        }
        return position
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these are the bytes of an ASCII literal.
    @inlinable
    public func spells(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, literal.utf8Start, count) == 0
    }
}

/// Checks that a document is UTF-8 without a byte order mark.
enum TextEncoding {
    static func check(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        let start = Array(bytes.prefix(4))
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { throw JSONSyntaxError(problem: .byteOrderMark, position: 0) }
        // A document begins with ASCII, so in UTF-16 and UTF-32 one to three of its first four bytes are zeros.
        if start.contains(0) || start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0xFF, 0xFE]) {
            throw JSONSyntaxError(problem: .otherEncoding, position: 0)
        }
        try checkUTF8(bytes)
    }

    static func checkUTF8(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        do {
            _ = try UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)
        } catch {
            throw JSONSyntaxError(problem: .notUTF8, position: error.byteOffsets.lowerBound)
        }
    }
}
