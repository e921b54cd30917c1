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
