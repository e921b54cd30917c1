extension [UInt8] {
    /// Appends a text as a JSON string, just as ``JSONCoder`` writes it.
    package mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if UnsafeRawBufferPointer(utf8).plainCharacters(from: 0).end == utf8.count {
                append(contentsOf: utf8)
            } else {
                for byte in utf8 { appendEscaped(byte) }
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends an integer's digits.
    mutating func appendDigits(_ value: some FixedWidthInteger) {
        var text = String(value)
        text.withUTF8 { append(contentsOf: $0) }
    }

    /// Appends the characters of an ASCII literal.
    package mutating func appendLiteral(_ literal: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): appendLiteral("\\\"")
        case UInt8(ascii: "\\"): appendLiteral("\\\\")
        case 0x08: appendLiteral("\\b")
        case 0x09: appendLiteral("\\t")
        case 0x0A: appendLiteral("\\n")
        case 0x0C: appendLiteral("\\f")
        case 0x0D: appendLiteral("\\r")
        case ..<0x20:
            appendLiteral("\\u00")
            for digit in [byte >> 4, byte & 0xF] {
                append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        default: append(byte)
        }
    }
}
