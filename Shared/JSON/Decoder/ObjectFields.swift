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
