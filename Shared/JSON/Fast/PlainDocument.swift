/// A JSON document of the form that ours nearly always have: objects and arrays of texts, integers, booleans and nulls.
///
/// It finds where every value begins and ends, and reads the values when somebody asks for them. It knows that form alone
/// and gives up on everything else, errors among it, which then goes to Foundation's decoder.
///
/// Held by a pointer for as long as the decoding lasts: an object would be retained for every field.
struct PlainDocument {
    enum Kind: UInt8 {
        case object, array, text, escapedText, integer, `true`, `false`, null
    }

    /// A value, or the key of one: the nodes of an object are its keys and values in turn.
    struct Node {
        let kind: Kind
        /// Where its bytes begin; of a text, after the quote.
        let start: Int32
        /// How many bytes a text or an integer has; how many fields or elements an object or an array.
        var count: Int32
        /// The node after this one and all that is in it.
        var next: Int32
    }

    let bytes: UnsafeRawBufferPointer
    let nodes: UnsafeBufferPointer<Node>
    /// Something was asked of the document that only Foundation's decoder can answer.
    private(set) var isUnsupported = false

    /// Finds the values of a document, and lends it.
    ///
    /// - Returns: What `body` does; `nil` where the document is of another form.
    static func read<Value>(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeMutablePointer<PlainDocument>) -> Value?
    ) -> Value? {
        var scanner = PlainScanner(bytes)
        return scanner.scan()?.withUnsafeBufferPointer { nodes in
            var document = PlainDocument(bytes: bytes, nodes: nodes)
            return withUnsafeMutablePointer(to: &document, body)
        }
    }

    /// The error of whoever asks for what is not there; Foundation's decoder then finds the words.
    struct Unsupported: Error {}

    mutating func giveUp() -> Unsupported {
        isUnsupported = true
        return Unsupported()
    }

    mutating func text(_ index: Int) throws -> String {
        let node = nodes[index]
        let start = Int(node.start)
        let raw = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(node.count)])
        switch node.kind {
        case .text: return String(decoding: raw, as: UTF8.self)
        case .escapedText: return String(decoding: Self.unescaped(raw), as: UTF8.self)
        default: throw giveUp()
        }
    }

    mutating func integer<Value: FixedWidthInteger>(_ index: Int) throws -> Value {
        let node = nodes[index]
        guard node.kind == .integer else { throw giveUp() }
        let start = Int(node.start)
        var number: Int64 = 0
        var isNegative = false
        for byte in bytes[start..<start + Int(node.count)] {
            if byte == UInt8(ascii: "-") {
                isNegative = true
            } else {
                number = number &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
            }
        }
        guard let value = Value(exactly: isNegative ? -number : number) else { throw giveUp() }
        return value
    }

    mutating func bool(_ index: Int) throws -> Bool {
        switch nodes[index].kind {
        case .true: return true
        case .false: return false
        default: throw giveUp()
        }
    }

    func isNull(_ index: Int) -> Bool {
        nodes[index].kind == .null
    }

    /// The node of an object's field of that name.
    func value(of name: String, in object: Int) -> Int? {
        var name = name
        return name.withUTF8 { name in
            let fields = nodes[object].count
            var key = object + 1
            for _ in 0..<fields {
                if isKey(key, name) { return key + 1 }
                key = Int(nodes[key + 1].next)
            }
            return nil
        }
    }

    private func isKey(_ key: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let node = nodes[key]
        guard Int(node.count) == name.count else { return false }
        let start = Int(node.start)
        for position in 0..<name.count where bytes[start + position] != name[position] { return false }
        return true
    }

    /// Reads the escapes that have a letter; the scanner leaves those with digits to Foundation's decoder.
    private static func unescaped(_ raw: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var isEscape = false
        for byte in raw {
            if isEscape {
                bytes.append(character(ofEscape: byte))
                isEscape = false
            } else if byte == UInt8(ascii: "\\") {
                isEscape = true
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func character(ofEscape letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: letter
        }
    }
}
