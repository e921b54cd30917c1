import FoundationEssentials
import Schemas

/// Decodes one value.
struct BSONValueDecoder: Decoder {
    let value: BSONValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .document(let document) = value else { throw mismatch("a document") }
        return KeyedDecodingContainer(BSONKeyedDecoding(fields: try BSONFields(document), codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch("an array") }
        return BSONUnkeyedDecoding(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// Decodes any type: by its BSON type if it has one, otherwise by its `init(from:)`.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == ObjectID.self { return try cast(ObjectID(bson: value), "an ObjectId") }
        if type == Date.self { return try cast(date, "a UTC datetime") }
        if type == Data.self { return try cast(data, "binary data") }
        return try type.init(from: self)
    }

    func mismatch(_ expected: String) -> BSONError {
        BSONError(at: codingPath, "expected \(expected), found \(value.type)")
    }

    private func cast<Value>(_ read: (some Any)?, _ expected: String) throws -> Value {
        guard let value = read as? Value else { throw mismatch(expected) }
        return value
    }

    private var date: Date? {
        guard case .foreign(.date, let bytes) = value else { return nil }
        let milliseconds = Int64(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
        return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// The content starts after the length and the subtype.
    private var data: Data? {
        guard case .foreign(.binary, let bytes) = value else { return nil }
        return Data(bytes.dropFirst(5))
    }
}

extension BSONValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool { try convert(type) }
    func decode(_ type: String.Type) throws -> String { try convert(type) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .double(let number): number
        case .int32(let number): Double(number)
        case .int64(let number): Double(number)
        default: throw mismatch("a number")
        }
    }

    private func convert<Value: BSONConvertible>(_ type: Value.Type) throws -> Value {
        guard let converted = Value(bson: value) else { throw mismatch(Value.expectedBSON) }
        return converted
    }

    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
        guard let wide = Int64(bson: value), let number = Integer(exactly: wide) else {
            throw mismatch("a whole number from \(Integer.min) to \(Integer.max)")
        }
        return number
    }
}

private struct BSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: BSONFields
    let codingPath: [any CodingKey]

    var allKeys: [Key] { fields.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { (try? fields[key.stringValue]) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(BSONKey.superclass) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: any CodingKey) throws -> BSONValueDecoder {
        guard let value = try fields[key.stringValue] else {
            throw BSONError(at: codingPath + [key], "expected a value, found nothing")
        }
        return BSONValueDecoder(value: value, codingPath: codingPath + [key])
    }
}

private struct BSONUnkeyedDecoding: UnkeyedDecodingContainer {
    let elements: [BSONValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [BSONValue], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.decode(type) } }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next { try $0.unkeyedContainer() } }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }

    /// An element that cannot be decoded stays the next one.
    private mutating func next<Value>(_ read: (BSONValueDecoder) throws -> Value) throws -> Value {
        let path = codingPath + [BSONKey(intValue: currentIndex)]
        guard !isAtEnd else { throw BSONError(at: path, "expected a value, found nothing") }
        let value = try read(BSONValueDecoder(value: elements[currentIndex], codingPath: path))
        currentIndex += 1
        return value
    }
}
