/// Finds the nodes of a ``JSONDocument``.
struct DocumentScanner {
    private var scanner: JSONScanner
    private let rules: JSONRules
    var nodes: [JSONDocument.Node] = []

    /// Up to this many fields, names are compared one by one.
    private static let maxComparedNames = 64

    init(_ bytes: UnsafeRawBufferPointer, rules: JSONRules) {
        scanner = JSONScanner(bytes)
        self.rules = rules
    }

    /// Finds the nodes of a whole document. After an error ``nodes`` contains the nodes before it.
    mutating func scan() throws(JSONSyntaxError) {
        let bytes = scanner.bytes
        precondition(bytes.count < Int(Int32.max) / 2, "a document of more than a gigabyte")
        nodes.reserveCapacity(64)
        do throws(JSONSyntaxError) {
            try value(rules.maxDepth)
            if scanner.peek() != nil { throw scanner.failure(.expectedEnd) }
            if !scanner.isASCII { try TextEncoding.checkUTF8(bytes) }
        } catch {
            // A document in another encoding also has a syntax error. The encoding is the better reason.
            if case .repeatedName = error.problem { throw error }
            try TextEncoding.check(bytes)
            throw error
        }
    }

    private mutating func value(_ depth: Int) throws(JSONSyntaxError) {
        switch scanner.peek() {
        case UInt8(ascii: "{"): try object(depth)
        case UInt8(ascii: "["): try array(depth)
        case UInt8(ascii: "\""): append(try scanner.text())
        case UInt8(ascii: "t"): try word("true", .true)
        case UInt8(ascii: "f"): try word("false", .false)
        case UInt8(ascii: "n"): try word("null", .null)
        default:
            let number = try scanner.number(anySize: rules.allowsNumbersOfAnySize)
            append(number.isShortInteger ? .shortInteger : .number, number.range)
        }
    }

    // MARK: Objects and arrays

    private mutating func object(_ depth: Int) throws(JSONSyntaxError) {
        let node = try open(.object, depth)
        if scanner.take(UInt8(ascii: "}")) { return close(node, 0) }
        var count: Int32 = 0
        var names = NamesSeen()
        repeat {
            guard scanner.peek() == UInt8(ascii: "\"") else { throw scanner.failure(.expectedName) }
            let name = try scanner.text()
            append(name)
            if !rules.allowsRepeatedNames, isRepeated(name, of: node, among: count, &names) {
                throw scanner.failure(.repeatedName(node: nodes.count - 1))
            }
            guard scanner.take(UInt8(ascii: ":")) else { throw scanner.failure(.expectedColon) }
            try value(depth - 1)
            count += 1
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")) else { throw scanner.failure(.expectedCommaOrBrace) }
        close(node, count)
    }

    private mutating func array(_ depth: Int) throws(JSONSyntaxError) {
        let node = try open(.array, depth)
        if scanner.take(UInt8(ascii: "]")) { return close(node, 0) }
        var count: Int32 = 0
        repeat {
            try value(depth - 1)
            count += 1
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "]")) else { throw scanner.failure(.expectedCommaOrBracket) }
        close(node, count)
    }

    private mutating func open(_ kind: JSONDocument.Kind, _ depth: Int) throws(JSONSyntaxError) -> Int {
        guard depth > 0 else { throw scanner.failure(.tooDeep(rules.maxDepth)) }
        let node = nodes.count
        nodes.append(.init(kind: kind, start: Int32(node + 1), count: 0, next: 0))
        _ = scanner.take(kind == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        return node
    }

    private mutating func close(_ node: Int, _ count: Int32) {
        nodes[node].count = count
        nodes[node].next = Int32(nodes.count)
    }

    // MARK: Names

    /// Finds repeated names in an object whose names cannot be compared byte by byte: they have escapes, are not ASCII, or are too many.
    private struct NamesSeen {
        var names: Set<ExactText>?
    }

    /// Whether the object already has a field of the same name, plain or escaped.
    private func isRepeated(_ text: JSONScanner.Text, of object: Int, among count: Int32, _ seen: inout NamesSeen) -> Bool {
        if seen.names == nil {
            guard text.hasEscapes || !text.isASCII || count >= Self.maxComparedNames else {
                return isSameBytes(asKey: nodes.count - 1, of: object, among: count)
            }
            seen.names = []
            forEachName(of: object, among: count) { seen.names?.insert(name($0)) }
        }
        return seen.names?.insert(name(nodes.count - 1)).inserted == false
    }

    private func isSameBytes(asKey key: Int, of object: Int, among count: Int32) -> Bool {
        let name = nodes[key]
        var isRepeated = false
        forEachName(of: object, among: count) { other in
            if nodes[other].count == name.count, raw(other).elementsEqual(raw(key)) { isRepeated = true }
        }
        return isRepeated
    }

    @inline(__always)
    private func forEachName(of object: Int, among count: Int32, _ body: (Int) -> Void) {
        var key = object + 1
        for _ in 0..<count {
            body(key)
            key = Int(nodes[key + 1].next)
        }
    }

    private func raw(_ node: Int) -> UnsafeRawBufferPointer {
        let start = Int(nodes[node].start)
        return UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<start + Int(nodes[node].count)])
    }

    private func name(_ node: Int) -> ExactText {
        let isEscaped = nodes[node].kind == .escapedText
        return ExactText(isEscaped ? JSONEscape.unescaped(raw(node)) : String(decoding: raw(node), as: UTF8.self))
    }

    // MARK: Nodes

    private mutating func word(_ word: StaticString, _ kind: JSONDocument.Kind) throws(JSONSyntaxError) {
        let start = scanner.position
        try scanner.word(word)
        append(kind, start..<scanner.position)
    }

    private mutating func append(_ text: JSONScanner.Text) {
        append(text.hasEscapes ? .escapedText : .text, text.range)
    }

    private mutating func append(_ kind: JSONDocument.Kind, _ range: Range<Int>) {
        nodes.append(
            .init(
                kind: kind, start: Int32(range.lowerBound), count: Int32(range.count), next: Int32(nodes.count + 1)))
    }
}
