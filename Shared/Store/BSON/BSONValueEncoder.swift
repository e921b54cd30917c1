import FoundationEssentials
import Schemas

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

/// A value that is being encoded. Containers fill it in any order that `encode(to:)` chooses.
final class EncodedNode {
    private enum Content {
        case nothing
        case value(BSONValue)
        case fields([(key: String, node: EncodedNode)])
        case elements([EncodedNode])
    }

    private var content = Content.nothing

    /// The encoded content. A type that encodes nothing is an empty document, as in JSON.
    var value: BSONValue {
        switch content {
        case .nothing: .document([:])
        case .value(let value): value
        case .fields(let fields): .document(BSONDocument(fields.lazy.map { ($0.key, $0.node.value) }))
        case .elements(let elements): .array(elements.map(\.value))
        }
    }

    var count: Int {
        if case .elements(let elements) = content { elements.count } else { 0 }
    }

    func set(_ value: BSONValue) {
        content = .value(value)
    }

    func becomeDocument() {
        if case .fields = content { return }
        content = .fields([])
    }

    func becomeArray() {
        if case .elements = content { return }
        content = .elements([])
    }

    /// The node of a new field, which replaces an earlier one of the same name.
    func field(_ key: any CodingKey, at path: [any CodingKey]) throws -> EncodedNode {
        let name = key.stringValue
        guard !name.hasPrefix("$"), !name.utf8.contains(0), !path.isEmpty || !name.contains(".") else {
            throw BSONError(at: path, "MongoDB reserves the field name \"\(name.prefix(100))\"")
        }
        let node = EncodedNode()
        if case .fields(var fields) = content {
            content = .nothing
            if let index = fields.firstIndex(where: { $0.key == name }) {
                fields[index].node = node
            } else {
                fields.append((name, node))
            }
            content = .fields(fields)
        }
        return node
    }

    func element() -> EncodedNode {
        let node = EncodedNode()
        if case .elements(var elements) = content {
            content = .nothing
            elements.append(node)
            content = .elements(elements)
        }
        return node
    }

    func fill<Value: Encodable>(with value: Value, at path: [any CodingKey]) throws {
        guard path.count <= BSONCoder.maxDepth else { throw BSONError(at: Array(path.prefix(3)), "it is nested too deeply") }
        switch value {
        case let id as ObjectID: set(.objectID(id))
        case let date as Date: set(.foreign(.date, bytes: Self.bytes(of: date.unixMilliseconds.rawValue)[...]))
        case let data as Data: set(.foreign(.binary, bytes: (Self.bytes(of: Int32(data.count)) + [0] + data)[...]))
        default: try value.encode(to: BSONValueEncoder(node: self, codingPath: path))
        }
    }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
