/// Reads types from a ``JSONDocument``. Its errors are ``SchemaViolation``s.
struct DocumentDecoder: Decoder {
    let document: UnsafePointer<JSONDocument>
    let node: Int

    var codingPath: [any CodingKey] { document.pointee.path(to: node) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        document.pointee.nodes[node].isRead = true
        guard document.pointee.kind(node) == .object else { throw mismatch("an object") }
        let container = ObjectFields<Key>(document: document, object: node)
        if document.pointee.strictness == .explaining { try container.refuseUnknownNames() }
        return KeyedDecodingContainer(container)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        document.pointee.nodes[node].isRead = true
        guard document.pointee.kind(node) == .array else { throw mismatch("an array") }
        return ArrayElements(document: document, array: node)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        document.pointee.nodes[node].isRead = true
        return self
    }
}

extension DocumentDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.pointee.kind(node) == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        switch document.pointee.kind(node) {
        case .true: return true
        case .false: return false
        default: throw mismatch("true or false")
        }
    }

    func decode(_ type: String.Type) throws -> String {
        guard let text = document.pointee.text(node) else { throw mismatch("a string") }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double { try float() }
    func decode(_ type: Float.Type) throws -> Float { try float() }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value {
        switch document.pointee.kind(node) {
        case .shortInteger:
            guard let value = Value(exactly: document.pointee.raw(node).shortInteger) else { throw outOfRange(type) }
            return value
        case .number: return try longInteger()
        default: throw mismatch("an integer")
        }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try Value(from: self)
        if document.pointee.isStrict { try check(value) }
        return value
    }

    private func check(_ value: some Decodable) throws {
        // A type without fields does not even ask whether there is an object.
        if !document.pointee.nodes[node].isRead { _ = try container(keyedBy: NoFields.self) }
        guard document.pointee.kind(node) == .object else { return }
        if document.pointee.strictness == .strict, !document.pointee.isWhollyRead(node) {
            throw violation("a field is not one of this object")
        }
        guard let checked = value as? any Checked else { return }
        do {
            try checked.check()
        } catch {
            throw error.inside(codingPath)
        }
    }
}

/// The keys of an object without fields.
private enum NoFields: CodingKey, CaseIterable {}

// MARK: Numbers

extension DocumentDecoder {
    private var digits: String { String(decoding: document.pointee.raw(node), as: UTF8.self) }

    /// An integer of another form: with more digits, or such as `1.0` and `1e3`.
    private func longInteger<Value: FixedWidthInteger>() throws -> Value {
        if let value = Value(digits) { return value }
        guard let number = Double(digits), number == number.rounded() else { throw violation("expected an integer") }
        // A larger one may have lost precision.
        guard abs(number) <= 0x1p53, let value = Value(exactly: number) else { throw outOfRange(Value.self) }
        return value
    }

    private func outOfRange<Value: FixedWidthInteger>(_ type: Value.Type) -> SchemaViolation {
        violation("expected an integer from \(Value.min) to \(Value.max)")
    }

    private func float<Value: BinaryFloatingPoint & LosslessStringConvertible>() throws -> Value {
        switch document.pointee.kind(node) {
        case .shortInteger, .number:
            guard let value = Value(digits), value.isFinite else { throw violation("expected a number that fits 64 bits") }
            return value
        default: throw mismatch("a number")
        }
    }
}

// MARK: Errors

extension DocumentDecoder {
    func violation(_ problem: String) -> SchemaViolation {
        SchemaViolation(path: codingPath, problem: problem)
    }

    private func mismatch(_ expected: String) -> SchemaViolation {
        violation("expected \(expected)" + (decodeNil() ? ", found null" : ""))
    }
}
