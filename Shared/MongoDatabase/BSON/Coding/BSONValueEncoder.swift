/// Encodes one value into its node.
struct BSONValueEncoder: Encoder {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeDocument()
        return KeyedEncodingContainer(BSONKeyedEncoding<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return BSONUnkeyedEncoding(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        BSONSingleEncoding(node: node, codingPath: codingPath)
    }
}

private struct BSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) throws {
        try node.field(key, at: codingPath).set(.null)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try node.field(key, at: codingPath).fill(with: value, at: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(BSONKey.superclass) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

    /// These cannot throw. The names of nested containers come from the code, so they are valid.
    private func encoder(_ key: any CodingKey) -> BSONValueEncoder {
        guard let field = try? node.field(key, at: codingPath) else {
            preconditionFailure("MongoDB reserves the field name \(key.stringValue)")
        }
        return BSONValueEncoder(node: field, codingPath: codingPath + [key])
    }
}

private struct BSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    func encodeNil() { node.element().set(.null) }

    func encode<Value: Encodable>(_ value: Value) throws {
        let key = BSONKey(intValue: count)
        try node.element().fill(with: value, at: codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

    func superEncoder() -> any Encoder { encoder() }

    private func encoder() -> BSONValueEncoder {
        let key = BSONKey(intValue: count)
        return BSONValueEncoder(node: node.element(), codingPath: codingPath + [key])
    }
}

private struct BSONSingleEncoding: SingleValueEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Double) { node.set(.double(value)) }
    func encode(_ value: Float) { node.set(.double(Double(value))) }
    func encode(_ value: Int32) { node.set(.int32(value)) }
    func encode(_ value: Int) { node.set(.int64(Int64(value))) }
    func encode(_ value: Int8) { node.set(.int64(Int64(value))) }
    func encode(_ value: Int16) { node.set(.int64(Int64(value))) }
    func encode(_ value: Int64) { node.set(.int64(value)) }
    func encode(_ value: UInt8) { node.set(.int64(Int64(value))) }
    func encode(_ value: UInt16) { node.set(.int64(Int64(value))) }
    func encode(_ value: UInt32) { node.set(.int64(Int64(value))) }
    func encode(_ value: UInt) throws { try encode(UInt64(value)) }

    func encode(_ value: UInt64) throws {
        guard let number = Int64(exactly: value) else {
            throw BSONError(at: codingPath, "\(value) is too large for MongoDB's whole numbers")
        }
        node.set(.int64(number))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try node.fill(with: value, at: codingPath)
    }
}
