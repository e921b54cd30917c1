/// Reads documents of a known form, for the few types that are read for every message. It stores nothing but the values. Anything
/// unusual, such as an error, ends the reading with `nil` or `false`; ``JSONCoder`` then reads the document.
///
/// It is public because the compiler inlines and specialises only public declarations in other modules.
public struct FastReader {
    @usableFromInline var scanner: JSONScanner

    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer) {
        scanner = JSONScanner(bytes)
    }

    // MARK: Objects and arrays

    /// Reads an object that is not empty.
    ///
    /// - Parameter field: Finds out which ``name(_:)`` comes next, and reads its value. It refuses repeated names.
    /// - Returns: Whether the whole object was read.
    @inlinable @inline(__always)
    public mutating func object(_ field: (inout FastReader) -> Bool) -> Bool {
        guard scanner.take(UInt8(ascii: "{")) else { return false }
        repeat {
            guard scanner.peek() == UInt8(ascii: "\""), field(&self) else { return false }
        } while scanner.take(UInt8(ascii: ","))
        return scanner.take(UInt8(ascii: "}"))
    }

    /// Takes a field's name and its colon, if it is this one, written without escapes.
    @inlinable @inline(__always)
    public mutating func name(_ literal: StaticString) -> Bool {
        scanner.takeName(literal)
    }

    /// Reads an array that is not empty.
    @inlinable @inline(__always)
    public mutating func array(_ element: (inout FastReader) -> Bool) -> Bool {
        guard scanner.take(UInt8(ascii: "[")) else { return false }
        repeat {
            guard element(&self) else { return false }
        } while scanner.take(UInt8(ascii: ","))
        return scanner.take(UInt8(ascii: "]"))
    }

    /// Whether the document ends here.
    @inlinable
    public mutating func isAtEnd() -> Bool {
        scanner.peek() == nil
    }

    // MARK: Values

    /// The characters of a text without escapes.
    public mutating func characters() -> UnsafeBufferPointer<UInt8>? {
        plainText()?.characters
    }

    /// One of the texts of a closed enumeration.
    @inlinable
    public mutating func choice<Choice: ClosedEnum>() -> Choice? {
        guard let characters = characters() else { return nil }
        return Choice.allCases.first { choice in
            var text = choice.rawValue
            return text.withUTF8 { $0.elementsEqual(characters) }
        }
    }

    /// A text without escapes.
    public mutating func text() -> String? {
        guard let (characters, isASCII) = plainText() else { return nil }
        // The general decoder takes several times as long.
        return isASCII ? String(decoding: characters, as: UTF8.self) : String(validating: characters, as: UTF8.self)
    }

    private mutating func plainText() -> (characters: UnsafeBufferPointer<UInt8>, isASCII: Bool)? {
        guard scanner.peek() == UInt8(ascii: "\""), let text = scanner.takePlainText() else { return nil }
        return (UnsafeBufferPointer(rebasing: scanner.bytes.bindMemory(to: UInt8.self)[text.range]), text.isASCII)
    }

    /// An integer of at most 18 digits without a sign.
    public mutating func integer() -> Int64? {
        scanner.peek() == nil ? nil : scanner.takeShortInteger()
    }
}

extension Optional {
    /// Takes a value that was read.
    ///
    /// - Returns: Whether a value was read, and it is the first.
    @inlinable
    public mutating func takeOnce(_ value: Wrapped?) -> Bool {
        guard self == nil, let value else { return false }
        self = value
        return true
    }
}
