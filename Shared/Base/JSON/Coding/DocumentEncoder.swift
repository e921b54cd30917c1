import FoundationEssentials

/// Writes types as JSON without spaces, the fields of every object sorted by name.
struct DocumentEncoder: Encoder {
    let writer: UnsafeMutablePointer<DocumentWriter>
    let value: DocumentWriter.Value

    /// Writes a document.
    ///
    /// - Throws: `EncodingError` for an infinite number or NaN; the errors of the type's `encode(to:)`.
    static func encode(_ value: some Encodable) throws -> Data {
        let writer = UnsafeMutablePointer<DocumentWriter>.allocate(capacity: 1)
        defer { writer.deallocate() }
        writer.initialize(to: DocumentWriter())
        do {
            try write(value, to: writer)
        } catch {
            writer.deinitialize(count: 1)
            throw error
        }
        return writer.move().json.data()
    }

    /// Encodes a value by its `encode(to:)`.
    static func write<Value: Encodable>(_ value: Value, to writer: UnsafeMutablePointer<DocumentWriter>) throws {
        let encoder = DocumentEncoder(writer: writer, value: writer.pointee.beginValue())
        try value.encode(to: encoder)
        try writer.pointee.end(encoder.value)
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        writer.pointee.beginObject(value)
        return KeyedEncodingContainer(ObjectEncodingContainer<Key>(writer: writer, object: value))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        writer.pointee.beginArray(value)
        return ArrayEncodingContainer(writer: writer, array: value)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension DocumentEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { try scalar { $0.append("null") } }
    func encode(_ value: Bool) throws { try scalar { $0.append(value ? "true" : "false") } }
    func encode(_ value: String) throws { try scalar { $0.append(text: value) } }
    func encode(_ value: Double) throws { try encode(number: value) }
    func encode(_ value: Float) throws { try encode(number: value) }
    func encode(_ value: some FixedWidthInteger & Encodable) throws { try scalar { $0.append(integer: value) } }

    func encode(_ value: some Encodable) throws {
        try writer.pointee.beginScalar(self.value)
        try DocumentEncoder.write(value, to: writer)
    }

    /// Writes a number that is already in JSON's form.
    func encode(digits: String) throws { try scalar { $0.append(characters: digits) } }

    private func encode<Number: BinaryFloatingPoint & LosslessStringConvertible>(number: Number) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(
                number, .init(codingPath: codingPath, debugDescription: "JSON has no number \(number)"))
        }
        let digits = number.description
        try encode(digits: digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
    }

    private func scalar(_ write: (inout JSONBytes) -> Void) throws {
        try writer.pointee.beginScalar(value)
        write(&writer.pointee.json)
    }
}

/// The fields of an object that a ``DocumentEncoder`` writes.
struct ObjectEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: UnsafeMutablePointer<DocumentWriter>
    let object: DocumentWriter.Value

    var codingPath: [any CodingKey] { [] }

    private func field(_ key: Key, _ write: (inout JSONBytes) -> Void) throws {
        try writer.pointee.beginField(object, key.stringValue)
        write(&writer.pointee.json)
        writer.pointee.endField()
    }

    func encodeNil(forKey key: Key) throws { try field(key) { $0.append("null") } }
    func encode(_ value: String, forKey key: Key) throws { try field(key) { $0.append(text: value) } }

    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws {
        try field(key) { $0.append(integer: value) }
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try writer.pointee.beginField(object, key.stringValue)
        try DocumentEncoder.write(value, to: writer)
        writer.pointee.endField()
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key.stringValue).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested("super") }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key.stringValue) }

    /// A value that ends with the next field or the end of the object.
    private func nested(_ name: String) -> DocumentEncoder {
        writer.pointee.keepingFailure { try $0.beginField(object, name) }
        return DocumentEncoder(writer: writer, value: writer.pointee.beginValue())
    }
}

/// The elements of an array that a ``DocumentEncoder`` writes.
struct ArrayEncodingContainer: UnkeyedEncodingContainer {
    private let writer: UnsafeMutablePointer<DocumentWriter>
    private let array: DocumentWriter.Value
    private(set) var count = 0

    init(writer: UnsafeMutablePointer<DocumentWriter>, array: DocumentWriter.Value) {
        self.writer = writer
        self.array = array
    }

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws {
        try writer.pointee.beginElement(array)
        writer.pointee.json.append("null")
        count += 1
    }

    mutating func encode(_ value: some Encodable) throws {
        try writer.pointee.beginElement(array)
        try DocumentEncoder.write(value, to: writer)
        count += 1
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nested() }

    private mutating func nested() -> DocumentEncoder {
        writer.pointee.keepingFailure { try $0.beginElement(array) }
        count += 1
        return DocumentEncoder(writer: writer, value: writer.pointee.beginValue())
    }
}
