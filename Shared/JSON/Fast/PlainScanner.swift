/// Finds the nodes of a ``PlainDocument``.
struct PlainScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var isASCII = true
    private var nodes: [PlainDocument.Node] = []

    /// Deeper than any of our documents.
    private static let deepest = 32

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Finds the nodes of a whole document, which is an object or an array.
    mutating func scan() -> [PlainDocument.Node]? {
        guard bytes.count < Int(Int32.max) / 2 else { return nil }
        nodes.reserveCapacity(64)
        guard let first = peek(), first == UInt8(ascii: "{") || first == UInt8(ascii: "["), value(Self.deepest) else {
            return nil
        }
        guard peek() == nil, isASCII || (try? UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)) != nil else {
            return nil
        }
        return nodes
    }

    /// The next byte that is no white space.
    private mutating func peek() -> UInt8? {
        position = bytes.skippingWhiteSpace(from: position)
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func value(_ depth: Int) -> Bool {
        switch peek() {
        case UInt8(ascii: "{"): return depth > 0 && object(depth - 1)
        case UInt8(ascii: "["): return depth > 0 && array(depth - 1)
        case UInt8(ascii: "\""): return text()
        case UInt8(ascii: "t"): return word("true", .true)
        case UInt8(ascii: "f"): return word("false", .false)
        case UInt8(ascii: "n"): return word("null", .null)
        default: return integer()
        }
    }

    private mutating func object(_ depth: Int) -> Bool {
        let node = open(.object)
        if peek() == UInt8(ascii: "}") { return close(node, 0) }
        var count: Int32 = 0
        repeat {
            guard case let name = nodes.count, key(), !hasField(likeKey: name, of: node, among: count),
                peek() == UInt8(ascii: ":")
            else { return false }
            position += 1
            guard value(depth) else { return false }
            count += 1
        } while skipComma()
        return peek() == UInt8(ascii: "}") && close(node, count)
    }

    /// A text of ASCII without escapes: names that only look alike are a matter for others.
    private mutating func key() -> Bool {
        let wasASCII = isASCII
        isASCII = true
        defer { isASCII = wasASCII }
        return peek() == UInt8(ascii: "\"") && text() && isASCII && nodes[nodes.count - 1].kind == .text
    }

    private mutating func array(_ depth: Int) -> Bool {
        let node = open(.array)
        if peek() == UInt8(ascii: "]") { return close(node, 0) }
        var count: Int32 = 0
        repeat {
            guard value(depth) else { return false }
            count += 1
        } while skipComma()
        return peek() == UInt8(ascii: "]") && close(node, count)
    }

    private mutating func open(_ kind: PlainDocument.Kind) -> Int {
        nodes.append(.init(kind: kind, start: Int32(position), count: 0, next: 0))
        position += 1
        return nodes.count - 1
    }

    private mutating func close(_ node: Int, _ count: Int32) -> Bool {
        position += 1
        nodes[node].count = count
        nodes[node].next = Int32(nodes.count)
        return true
    }

    private mutating func skipComma() -> Bool {
        guard peek() == UInt8(ascii: ",") else { return false }
        position += 1
        return true
    }

    /// Whether the object has a field of the same name already. Of objects that are used as long lists it says so too: this
    /// way of looking is for short ones.
    private func hasField(likeKey key: Int, of object: Int, among count: Int32) -> Bool {
        if count > 64 { return true }
        let name = nodes[key]
        var other = object + 1
        for _ in 0..<count {
            if isSame(nodes[other], name) { return true }
            other = Int(nodes[other + 1].next)
        }
        return false
    }

    private func isSame(_ key: PlainDocument.Node, _ other: PlainDocument.Node) -> Bool {
        guard key.count == other.count else { return false }
        let (start, otherStart) = (Int(key.start), Int(other.start))
        for position in 0..<Int(key.count) where bytes[start + position] != bytes[otherStart + position] { return false }
        return true
    }

    private mutating func text() -> Bool {
        position += 1
        let start = position
        var kind = PlainDocument.Kind.text
        while true {
            let plain = bytes.plainCharacters(from: position)
            position = plain.end
            if !plain.isASCII { isASCII = false }
            guard position < bytes.count else { return false }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                append(kind, from: start)
                position += 1
                return true
            case UInt8(ascii: "\\"):
                position += 1
                guard position < bytes.count, Self.isEscape(bytes[position]) else { return false }
                kind = .escapedText
                position += 1
            default: return false
            }
        }
    }

    private static func isEscape(_ letter: UInt8) -> Bool {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            true
        default: false
        }
    }

    /// Up to 18 digits, which cannot overflow. What follows them decides elsewhere whether they are an integer.
    private mutating func integer() -> Bool {
        let start = position
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let first = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        let digits = position - first
        // Without a leading zero, which JSON does not allow; a negative zero is a matter for others.
        guard (1...18).contains(digits), bytes[first] != UInt8(ascii: "0") || (digits == 1 && start == first) else {
            return false
        }
        append(.integer, from: start)
        return true
    }

    private mutating func word(_ word: StaticString, _ kind: PlainDocument.Kind) -> Bool {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count,
            bytes[position..<end].elementsEqual(UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        else { return false }
        append(kind, from: position)
        position = end
        return true
    }

    private mutating func append(_ kind: PlainDocument.Kind, from start: Int) {
        nodes.append(
            .init(kind: kind, start: Int32(start), count: Int32(position - start), next: Int32(nodes.count + 1)))
    }
}
