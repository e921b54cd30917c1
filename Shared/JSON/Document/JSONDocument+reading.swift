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
