/// The fields of an object of a ``PlainDocument``.
struct PlainKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let document: UnsafeMutablePointer<PlainDocument>
    let object: Int

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        var keys: [Key] = []
        var node = object + 1
        for _ in 0..<document.pointee.nodes[object].count {
            if let name = try? document.pointee.text(node), let key = Key(stringValue: name) { keys.append(key) }
            node = Int(document.pointee.nodes[node + 1].next)
        }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        document.pointee.value(of: key.stringValue, in: object) != nil
    }

    private func field(_ key: Key) throws -> PlainDecoder {
        guard let node = document.pointee.value(of: key.stringValue, in: object) else { throw document.pointee.giveUp() }
        return PlainDecoder(document: document, node: node)
    }

    /// A field that is there and not null.
    private func optionalField(_ key: Key) -> PlainDecoder? {
        guard let node = document.pointee.value(of: key.stringValue, in: object), !document.pointee.isNull(node) else {
            return nil
        }
        return PlainDecoder(document: document, node: node)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try field(key).decodeNil() }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try field(key).decode(type) }

    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).decode(type)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try field(key).decode(type)
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

    func superDecoder() throws -> any Decoder { throw document.pointee.giveUp() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw document.pointee.giveUp() }
}

/// The elements of an array of a ``PlainDocument``.
struct PlainUnkeyedContainer: UnkeyedDecodingContainer {
    private let document: UnsafeMutablePointer<PlainDocument>
    private let size: Int32
    private var index: Int32 = 0
    private var node: Int32

    init(document: UnsafeMutablePointer<PlainDocument>, array: Int) {
        self.document = document
        size = document.pointee.nodes[array].count
        node = Int32(array + 1)
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { Int(size) }
    var isAtEnd: Bool { index == size }
    var currentIndex: Int { Int(index) }

    /// Takes the next element.
    private mutating func element() throws -> PlainDecoder {
        guard index < size else { throw document.pointee.giveUp() }
        defer {
            index += 1
            node = document.pointee.nodes[Int(node)].next
        }
        return PlainDecoder(document: document, node: Int(node))
    }

    /// Takes the next element where it is null, and leaves it otherwise.
    mutating func decodeNil() throws -> Bool {
        guard index < size else { throw document.pointee.giveUp() }
        guard document.pointee.isNull(Int(node)) else { return false }
        _ = try element()
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let element = try element()
        do {
            return try element.decode(type)
        } catch {
            // Whoever catches this error would read the same element again.
            throw document.pointee.giveUp()
        }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try element().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try element().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { throw document.pointee.giveUp() }
}
