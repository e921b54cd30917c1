/// Reads types from a ``PlainDocument``, an order of magnitude sooner than Foundation's decoder does.
///
/// Whatever it throws says only that the document is for Foundation's decoder, which is then asked from the beginning, and
/// whose error is the one that somebody sees.
struct PlainDecoder: Decoder {
    let document: UnsafeMutablePointer<PlainDocument>
    let node: Int

    /// Reads a document.
    ///
    /// - Returns: `nil` where Foundation's decoder has to decide.
    static func decode<Value: Decodable>(_ type: Value.Type, from json: UnsafeRawBufferPointer) -> Value? {
        PlainDocument.read(json) { document in
            // The error is found again by Foundation's decoder, with its words.
            let value = try? PlainDecoder(document: document, node: 0).decode(type)
            return document.pointee.isUnsupported ? nil : value
        }
    }

    /// How many fields an object has, which are all of different names; `nil` for anything else.
    var fieldCount: Int? {
        document.pointee.nodes[node].kind == .object ? Int(document.pointee.nodes[node].count) : nil
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard document.pointee.nodes[node].kind == .object else { throw document.pointee.giveUp() }
        return KeyedDecodingContainer(PlainKeyedContainer<Key>(document: document, object: node))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard document.pointee.nodes[node].kind == .array else { throw document.pointee.giveUp() }
        return PlainUnkeyedContainer(document: document, array: node)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension PlainDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.pointee.isNull(node) }
    func decode(_ type: Bool.Type) throws -> Bool { try document.pointee.bool(node) }
    func decode(_ type: String.Type) throws -> String { try document.pointee.text(node) }
    func decode(_ type: Double.Type) throws -> Double { throw document.pointee.giveUp() }
    func decode(_ type: Float.Type) throws -> Float { throw document.pointee.giveUp() }
    func decode<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws -> Value { try document.pointee.integer(node) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Foundation's decoder has an own form for these.
        guard !FoundationForms.has(type) else { throw document.pointee.giveUp() }
        return try Value(from: self)
    }
}
