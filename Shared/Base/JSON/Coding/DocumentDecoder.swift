/// Reads types from a ``JSONDocument``. Its errors are ``SchemaViolation``s.
struct DocumentDecoder: Decoder {
    let document: UnsafePointer<JSONDocument>
    let node: Int

    var codingPath: [any CodingKey] { document.pointee.path(to: node) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        // A type that embeds another one reads its own fields first, with keys that name all of them.
        let isFirst = !document.pointee.nodes[node].isRead
        document.pointee.nodes[node].isRead = true
        guard document.pointee.kind(node) == .object else { throw mismatch("an object") }
        let container = ObjectFields<Key>(document: document, object: node)
        if document.pointee.strictness == .explaining, isFirst { try container.refuseUnknownNames() }
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

/// The coding keys of an object without fields.
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

    /// A type with a smaller range tells by the limit that the number breaks that of the integer, and says its own.
    private func outOfRange<Value: FixedWidthInteger>(_ type: Value.Type) -> SchemaViolation {
        let violation = violation("expected an integer from \(Value.min) to \(Value.max)")
        return SchemaViolation(
            field: violation.field, problem: violation.problem,
            limit: .range(Int64(clamping: Value.min)...Int64(clamping: Value.max)))
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

/// The fields of an object of a ``JSONDocument``.
struct ObjectFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: UnsafePointer<JSONDocument>
    let object: Int

    var codingPath: [any CodingKey] { document.pointee.path(to: object) }

    var allKeys: [Key] {
        var keys: [Key] = []
        document.pointee.forEachName(in: object) { node in
            if let name = document.pointee.text(node), let key = Key(stringValue: name) { keys.append(key) }
        }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        document.pointee.value(of: key.stringValue, in: object) != nil
    }

    private func field(_ key: Key) throws -> DocumentDecoder {
        guard let node = document.pointee.value(of: key.stringValue, in: object) else {
            throw SchemaViolation(path: codingPath + [key], problem: "missing, but required")
        }
        return DocumentDecoder(document: document, node: node)
    }

    /// A present field; a null field counts as missing unless null is an error.
    private func optionalField(_ key: Key) -> DocumentDecoder? {
        guard let node = document.pointee.value(of: key.stringValue, in: object) else { return nil }
        let field = DocumentDecoder(document: document, node: node)
        return document.pointee.isStrict || !field.decodeNil() ? field : nil
    }

    /// In a strict document null is an ordinary value, which no type accepts.
    func decodeNil(forKey key: Key) throws -> Bool { try !document.pointee.isStrict && field(key).decodeNil() }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(key).decode(type) }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).decode(type)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).decode(type)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optionalField(key)?.decode(type) }

    func decodeIfPresent<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try optionalField(key)?.decode(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try optionalField(key)?.decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try field(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try field(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let node = document.pointee.value(of: "super", in: object) else {
            throw SchemaViolation(path: codingPath + [PathStep("super")], problem: "missing, but required")
        }
        return DocumentDecoder(document: document, node: node)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }

    // MARK: Unknown names

    /// Refuses unknown fields: what their sender meant would be lost.
    func refuseUnknownNames() throws {
        try document.pointee.forEachName(in: object) { node in
            guard let name = document.pointee.text(node), Key(stringValue: name) == nil else { return }
            throw SchemaViolation(
                path: codingPath + [PathStep(name.prefix(60))], problem: "not a field of this object" + Self.knownNames)
        }
    }

    /// The names of the fields, if the key type can list them.
    private static var knownNames: String {
        guard let keys = Key.self as? any CaseIterable.Type else { return "" }
        func names(_ keys: (some CaseIterable).Type) -> [String] { keys.allCases.compactMap { ($0 as? Key)?.stringValue } }
        let known = names(keys)
        return known.isEmpty ? ", which has none" : ", which has: \(known.joined(separator: ", "))"
    }
}

/// The elements of an array of a ``JSONDocument``.
struct ArrayElements: UnkeyedDecodingContainer {
    private let document: UnsafePointer<JSONDocument>
    private let array: Int
    private let size: Int32
    private var index: Int32 = 0
    private var node: Int32

    init(document: UnsafePointer<JSONDocument>, array: Int) {
        self.document = document
        self.array = array
        size = document.pointee.nodes[array].count
        node = Int32(array + 1)
    }

    var codingPath: [any CodingKey] { document.pointee.path(to: array) }
    var count: Int? { Int(size) }
    var isAtEnd: Bool { index == size }
    var currentIndex: Int { Int(index) }

    /// Takes the next element if `read` can read it.
    private mutating func take<Value>(_ read: (DocumentDecoder) throws -> Value) throws -> Value {
        guard index < size else {
            throw SchemaViolation(path: codingPath + [PathStep(currentIndex)], problem: "missing, but required")
        }
        let value = try read(DocumentDecoder(document: document, node: Int(node)))
        index += 1
        node = document.pointee.nodes[Int(node)].next
        return value
    }

    /// Whether the next element is null. Only then is it consumed.
    mutating func decodeNil() throws -> Bool {
        guard index < size, document.pointee.kind(Int(node)) == .null else { return false }
        try take { _ in }
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try take { try $0.decode(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try take { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try take { $0 } }
}
