package import FoundationEssentials

/// Reads and writes Swift types as JSON: the same rules everywhere, and errors that name the field.
///
/// JSON is that of RFC 8259, in UTF-8, and no object has two fields of one name.
package enum JSONCoder {
    /// Reads what another service answered, an event, or a stored document. Fields that the type does not know are ignored, so that
    /// versions can work side by side; null for an optional field means that it is not there.
    ///
    /// - Throws: ``SchemaViolation``, and nothing else.
    package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from json: Data) throws -> Value {
        try json.withUnsafeBytes { try read(type, from: $0, strictly: false) }
    }

    /// Reads what a caller sent, and refuses what is wrong by the path of its field: one that is unknown, missing, null, there
    /// twice or of another type, and a value that fails its ``Checked/check()``.
    ///
    /// The error for an unknown field lists the known ones if the type's `CodingKeys` are `CaseIterable`.
    ///
    /// - Throws: ``SchemaViolation``, and nothing else.
    package static func decodeStrictly<Value: Decodable>(_ type: Value.Type = Value.self, from json: Data) throws -> Value {
        try json.withUnsafeBytes { try read(type, from: $0, strictly: true) }
    }

    /// The text of a field of an object, also of one that is not JSON behind that field.
    ///
    /// - Returns: `nil` if there is no such field before the place where the document is wrong, or it is not a text.
    package static func text(of name: String, inDamaged json: UnsafeRawBufferPointer) -> String? {
        JSONDocument.text(of: name, inDamaged: json)
    }

    static func read<Value: Decodable>(
        _ type: Value.Type, from json: UnsafeRawBufferPointer, rules: DocumentRules = .strict, strictly: Bool
    ) throws -> Value {
        do {
            return try JSONDocument.read(json, rules: rules, strictly: strictly) { document in
                try DocumentDecoder(document: document, node: 0).decode(type)
            }
        } catch let error as DecodingError {
            throw SchemaViolation(error)
        } catch let violation as SchemaViolation {
            throw violation
        } catch {
            throw SchemaViolation(field: "", problem: "not valid: \(error)")
        }
    }

    /// Writes a document: keys sorted, so that equal documents are equal bytes; slashes as they are.
    package static func encode(_ value: some Encodable) throws -> Data {
        if let plain = PlainEncoder.encode(value) { return Data(plain) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
