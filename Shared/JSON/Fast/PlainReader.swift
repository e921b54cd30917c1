/// Reads a short JSON document from its beginning to its end, into the variables of whoever knows its common form.
///
/// For the few types that are read for every message: nothing is looked up, kept or made beside the values themselves. Whatever
/// it does not know, errors among it, ends the reading with `nil` or `false`; then the document is for ``JSONCoder``.
package struct PlainReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Reads an object that is not empty and what `field` reads of each of its fields.
    ///
    /// - Parameter field: Asks which ``name(_:)`` comes, and reads the value. It sees to it that none comes twice.
    /// - Returns: Whether all of it was read.
    @inline(__always)
    package mutating func object(_ field: (inout PlainReader) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        repeat {
            guard peek() == UInt8(ascii: "\""), field(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    /// Takes a field's name and its colon, where it is this one, of ASCII and without escapes.
    @inline(__always)
    package mutating func name(_ literal: StaticString) -> Bool {
        let before = position
        let start = before + 1
        let end = start + literal.utf8CodeUnitCount
        guard end < bytes.count, bytes[before] == UInt8(ascii: "\""), bytes[end] == UInt8(ascii: "\""),
            UnsafeRawBufferPointer(rebasing: bytes[start..<end]).spells(literal)
        else { return false }
        position = end + 1
        if take(UInt8(ascii: ":")) { return true }
        // No other name is to be found behind one without a colon.
        position = before
        return false
    }

    /// Reads an array that is not empty and what `element` reads of each of its elements.
    @inline(__always)
    package mutating func array(_ element: (inout PlainReader) -> Bool) -> Bool {
        guard take(UInt8(ascii: "[")) else { return false }
        repeat {
            guard element(&self) else { return false }
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }

    /// Whether nothing follows.
    package mutating func isAtEnd() -> Bool {
        peek() == nil
    }

    /// A text's characters as they are; `nil` for one with escapes.
    package mutating func characters() -> UnsafeBufferPointer<UInt8>? {
        plainCharacters()?.characters
    }

    /// One of the texts of a closed enumeration.
    package mutating func choice<Choice: ClosedEnum>() -> Choice? {
        guard let characters = characters() else { return nil }
        return Choice.allCases.first { choice in
            var text = choice.rawValue
            return text.withUTF8 { $0.elementsEqual(characters) }
        }
    }

    package mutating func text() -> String? {
        guard let (characters, isASCII) = plainCharacters() else { return nil }
        // The general way costs several times as much.
        return isASCII ? String(decoding: characters, as: UTF8.self) : String(validating: characters, as: UTF8.self)
    }

    private mutating func plainCharacters() -> (characters: UnsafeBufferPointer<UInt8>, isASCII: Bool)? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        let (end, isASCII) = bytes.plainCharacters(from: start)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        position = end + 1
        return (UnsafeBufferPointer(rebasing: bytes.bindMemory(to: UInt8.self)[start..<end]), isASCII)
    }

    /// An integer of up to 18 digits, which cannot overflow, and of none but digits.
    package mutating func integer() -> Int64? {
        guard peek() != nil else { return nil }
        let start = position
        var number: Int64 = 0
        while position < bytes.count, case let digit = bytes[position] &- UInt8(ascii: "0"), digit < 10 {
            number = number &* 10 &+ Int64(digit)
            position += 1
        }
        let digits = position - start
        guard (1...18).contains(digits), digits == 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        // What makes it another kind of number is no comma, and no end.
        return number
    }

    /// The next byte that is no white space.
    private mutating func peek() -> UInt8? {
        position = bytes.skippingWhiteSpace(from: position)
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }
}

extension Optional {
    /// Takes the value that was read, which a document has but once.
    ///
    /// - Returns: Whether one was read, and none before.
    package mutating func takeOnce(_ value: Wrapped?) -> Bool {
        guard self == nil, let value else { return false }
        self = value
        return true
    }
}
