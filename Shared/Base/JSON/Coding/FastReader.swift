/// A fast JSON reader for the few types that are decoded for every message, whose form is known. It allocates only the values. It
/// returns `nil` or `false` for anything unusual, such as an error; ``JSONCoder`` then decodes the document.
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

    /// Reads a string without escapes; `nil` for any other token.
    public mutating func text() -> String? {
        guard let (characters, isASCII) = plainText() else { return nil }
        // The general decoder takes several times as long.
        return isASCII ? String(decoding: characters, as: UTF8.self) : String(validating: characters, as: UTF8.self)
    }

    private mutating func plainText() -> (characters: UnsafeBufferPointer<UInt8>, isASCII: Bool)? {
        guard scanner.peek() == UInt8(ascii: "\""), let text = scanner.takePlainText() else { return nil }
        return (UnsafeBufferPointer(rebasing: scanner.bytes.bindMemory(to: UInt8.self)[text.range]), text.isASCII)
    }

    /// Reads any value but `null`. The names in its objects have no escapes and ascend, as ``JSONCoder`` writes them, so that none is
    /// repeated.
    ///
    /// - Parameter depth: How deeply the value may be nested.
    /// - Returns: Whether the whole value was read. The texts in it may be no UTF-8.
    public mutating func anyValue(depth: Int = 16) -> Bool {
        switch scanner.peek() {
        case UInt8(ascii: "\""): return (try? scanner.text()) != nil
        case UInt8(ascii: "t"): return (try? scanner.word("true")) != nil
        case UInt8(ascii: "f"): return (try? scanner.word("false")) != nil
        case UInt8(ascii: "["):
            guard depth > 0 else { return false }
            return takeEmpty("[", "]") || array { $0.anyValue(depth: depth - 1) }
        case UInt8(ascii: "{"):
            guard depth > 0 else { return false }
            var last: UnsafeBufferPointer<UInt8>?
            return takeEmpty("{", "}")
                || object { reader in
                    guard let (name, isASCII) = reader.plainText(), isASCII,
                        last.map({ $0.lexicographicallyPrecedes(name) }) ?? true
                    else { return false }
                    last = name
                    return reader.scanner.take(UInt8(ascii: ":")) && reader.anyValue(depth: depth - 1)
                }
        default: return (try? scanner.number(anySize: false)) != nil
        }
    }

    /// Takes an empty array or object.
    private mutating func takeEmpty(_ opening: Unicode.Scalar, _ closing: Unicode.Scalar) -> Bool {
        let start = scanner.position
        guard scanner.take(UInt8(ascii: opening)) else { return false }
        if scanner.take(UInt8(ascii: closing)) { return true }
        scanner.position = start
        return false
    }

    /// The bytes of the value that a closure reads.
    ///
    /// - Parameter read: Returns whether it has read the value.
    @inlinable @inline(__always)
    public mutating func bytes(of read: (inout FastReader) -> Bool) -> UnsafeRawBufferPointer? {
        guard scanner.peek() != nil else { return nil }
        let start = scanner.position
        return read(&self) ? UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.position]) : nil
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
