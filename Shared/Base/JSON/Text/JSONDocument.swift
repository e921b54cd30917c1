/// A scanned JSON document: the positions of its values, in the order of the text. The values are not decoded yet.
///
/// The decoder uses it by a pointer: an object would be retained for every field.
struct JSONDocument {
    enum Kind: UInt8 {
        case object, array, text, escapedText, shortInteger, number, `true`, `false`, null
    }

    /// A value or the name of a field. The nodes of an object are its names and values, alternating.
    struct Node {
        let kind: Kind
        /// Whether a type has asked what the value is, or a type that has the field has asked for its name.
        var isRead = false
        /// The start of its bytes, after the quote of a text. For an object, the node of the name at which the next lookup of a
        /// field starts.
        var start: Int32
        /// The length of a text or a number in bytes, or the number of fields or elements.
        var count: Int32
        /// The node after this one and its content; 0 while the object or array is not closed.
        var next: Int32
    }

    let bytes: UnsafeRawBufferPointer
    let nodes: UnsafeMutableBufferPointer<Node>
    let strictness: Strictness

    /// The errors besides a missing field and a wrong type.
    enum Strictness {
        /// None. Unknown fields are ignored, and null means a missing field.
        case lenient
        /// Unknown and null fields, and values that fail their ``Checked/check()``.
        case strict
        /// The same, in the most helpful order: an unknown field, which may be a misspelt one, before a missing one. This is
        /// slower, so it is for documents that are known to be invalid.
        case explaining
    }

    var isStrict: Bool { strictness != .lenient }

    func kind(_ node: Int) -> Kind { nodes[node].kind }

    /// The bytes of a text or a number.
    func raw(_ index: Int) -> UnsafeRawBufferPointer {
        let node = nodes[index]
        let start = Int(node.start)
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(node.count)])
    }

    /// The characters of a text; `nil` for any other value.
    func text(_ node: Int) -> String? {
        switch nodes[node].kind {
        case .text: String(decoding: raw(node), as: UTF8.self)
        case .escapedText: JSONEscape.unescaped(raw(node))
        default: nil
        }
    }

    // MARK: Objects

    /// The node of a field's value.
    func value(of name: String, in object: Int) -> Int? {
        var name = name
        return name.withUTF8 { name in
            let fields = nodes[object].count
            let end = Int(nodes[object].next)
            // Fields are mostly read in the order of the text.
            var key = Int(nodes[object].start)
            for _ in 0..<fields {
                if isKey(key, name) {
                    nodes[key].isRead = true
                    nodes[object].start = Int32(truncatingIfNeeded: key)
                    return key + 1
                }
                key = Int(nodes[key + 1].next)
                if key == end { key = object + 1 }
            }
            return nil
        }
    }

    private func isKey(_ key: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let node = nodes[key]
        if node.kind == .escapedText { return JSONEscape.unescaped(raw(key)).utf8.elementsEqual(name) }
        guard Int(node.count) == name.count else { return false }
        let start = Int(node.start)
        for position in 0..<name.count where bytes[start + position] != name[position] { return false }
        return true
    }

    /// Calls `body` with the node of every name of an object, in the order of the text.
    @inline(__always)
    func forEachName(in object: Int, _ body: (Int) throws -> Void) rethrows {
        var key = object + 1
        for _ in 0..<nodes[object].count {
            try body(key)
            key = Int(nodes[key + 1].next)
        }
    }

    /// Whether a type has asked for every field of an object.
    func isWhollyRead(_ object: Int) -> Bool {
        var isRead = true
        forEachName(in: object) { if !nodes[$0].isRead { isRead = false } }
        return isRead
    }

    /// Marks a value and its contents as read.
    func markAsRead(_ node: Int) {
        nodes[node].isRead = true
        if nodes[node].kind == .object { forEachName(in: node) { nodes[$0].isRead = true } }
    }

    // MARK: Paths

    /// The path from the root to a node.
    func path(to target: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var node = 0
        while node != target {
            guard let step = step(from: node, to: target) else { break }
            path.append(step.key)
            node = step.node
        }
        return path
    }

    private func step(from container: Int, to target: Int) -> (key: PathStep, node: Int)? {
        var node = container + 1
        var index = 0
        while node < nodes.count {
            let name = nodes[container].kind == .object ? text(node) : nil
            let value = name == nil ? node : node + 1
            let key = name.map { PathStep($0) } ?? PathStep(index)
            // The name itself or its value. An unclosed container contains everything after its begin.
            if target <= value { return (key, target) }
            let next = Int(nodes[value].next)
            if next == 0 || target < next { return (key, value) }
            node = next
            index += 1
        }
        return nil
    }
}

/// The name of a field, or the number of an element from 0.
struct PathStep: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: some StringProtocol) {
        stringValue = String(name)
        intValue = nil
    }

    init(_ index: Int) {
        stringValue = "\(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }
}

extension JSONDocument {
    /// Finds the values of a document, and lends it.
    ///
    /// - Throws: ``SchemaViolation`` for a syntax error, or the body's error.
    static func read<Value>(
        _ bytes: UnsafeRawBufferPointer, _ strictness: Strictness,
        _ body: (UnsafePointer<JSONDocument>) throws -> Value
    ) throws -> Value {
        var scanner = DocumentScanner(bytes, rules: .strict)
        var syntaxError: JSONSyntaxError?
        do {
            try scanner.scan()
        } catch {
            syntaxError = error
        }
        return try scanner.nodes.withUnsafeMutableBufferPointer { nodes in
            var document = JSONDocument(bytes: bytes, nodes: nodes, strictness: strictness)
            if let syntaxError { throw document.violation(syntaxError) }
            return try withUnsafePointer(to: &document, body)
        }
    }

    /// The text of a field of an object that may be invalid after that field.
    static func text(of name: String, inDamaged bytes: UnsafeRawBufferPointer) -> String? {
        var scanner = DocumentScanner(bytes, rules: .strict)
        // The error is reported elsewhere.
        try? scanner.scan()
        return scanner.nodes.withUnsafeMutableBufferPointer { nodes in
            guard let root = nodes.first, root.kind == .object else { return nil }
            let document = JSONDocument(bytes: bytes, nodes: nodes, strictness: .lenient)
            var key = 1
            while key + 1 < nodes.count {
                if document.text(key) == name { return document.text(key + 1) }
                let next = Int(nodes[key + 1].next)
                // The rest of the document is inside an unclosed value.
                if next == 0 { return nil }
                key = next
            }
            return nil
        }
    }

    private func violation(_ error: JSONSyntaxError) -> SchemaViolation {
        let path = if case .repeatedName(let node) = error.problem { path(to: node) } else { [] as [any CodingKey] }
        return SchemaViolation(path: path, problem: error.description(in: bytes))
    }
}

/// Where a reader of JSON is stricter or less strict than RFC 8259.
package struct JSONRules: Sendable {
    /// The maximum depth of nesting.
    package var maxDepth: Int
    /// Whether an object may repeat a field name. The last field then has precedence.
    package var allowsRepeatedNames = false
    /// Whether numbers may exceed 64 bits.
    package var allowsNumbersOfAnySize = false

    package init(maxDepth: Int, allowsRepeatedNames: Bool = false, allowsNumbersOfAnySize: Bool = false) {
        self.maxDepth = maxDepth
        self.allowsRepeatedNames = allowsRepeatedNames
        self.allowsNumbersOfAnySize = allowsNumbersOfAnySize
    }

    /// The rules of the project's programs.
    package static let strict = JSONRules(maxDepth: 512)
}
