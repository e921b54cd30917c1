extension [UInt8] {
    /// Appends a text as a JSON string, just as ``JSONCoder`` writes it.
    package mutating func appendJSON(_ text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            if UnsafeRawBufferPointer(utf8).plainCharacters(from: 0).end == utf8.count {
                append(contentsOf: utf8)
            } else {
                for byte in utf8 {
                    if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                        JSONEscape.escape(byte) { append($0) }
                    } else {
                        append(byte)
                    }
                }
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
}
