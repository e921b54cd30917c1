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
