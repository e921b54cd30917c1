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

    /// Takes the next element only if it is null.
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
