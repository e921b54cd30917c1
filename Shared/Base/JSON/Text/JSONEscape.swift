/// JSON's escapes, in both directions.
enum JSONEscape {
    /// The character of the escape `\` and this letter; `nil` for an unknown letter and for `u`.
    static func character(ofLetter letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: nil
        }
    }

    /// The letter that escapes a character; `nil` if there is none.
    static func letter(ofCharacter character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): character
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }

    /// The value of the four digits after a `\u` at `start`; `nil` if they are invalid.
    static func codeUnit(in bytes: UnsafeRawBufferPointer, at start: Int) -> UInt16? {
        guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"), bytes[start + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt16 = 0
        for position in (start + 2)..<(start + 6) {
            let value = bytes[position].hexadecimalValue
            guard value < 16 else { return nil }
            unit = unit << 4 | UInt16(value)
        }
        return unit
    }

    /// Unescapes a text whose escapes a ``JSONScanner`` has validated.
    static func unescaped(_ text: UnsafeRawBufferPointer) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var position = 0
        while position < text.count {
            guard text[position] == UInt8(ascii: "\\") else {
                bytes.append(text[position])
                position += 1
                continue
            }
            if let first = codeUnit(in: text, at: position) {
                position += 6
                var scalar = Unicode.Scalar(first)
                if scalar == nil, let second = codeUnit(in: text, at: position) {
                    position += 6
                    scalar = Unicode.Scalar(0x1_0000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF)
                }
                if let scalar { bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
            } else {
                if let character = character(ofLetter: text[position + 1]) { bytes.append(character) }
                position += 2
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
