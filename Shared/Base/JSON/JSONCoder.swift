package import FoundationEssentials

/// Reads and writes Swift types as JSON: the same rules everywhere, and errors that name the field.
///
/// JSON is that of RFC 8259 in UTF-8, and an object must not have repeated names.
package enum JSONCoder {
    /// Reads a reply, an event or a stored document. Unknown fields are ignored, so that versions can work side by side. Null for
    /// an optional field means that it is missing.
    ///
    /// - Throws: ``SchemaViolation``, and nothing else.
    package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from json: Data) throws -> Value {
        try json.withUnsafeBytes { try read(type, from: $0, .lenient) }
    }

    /// The same for a buffer.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from json: UnsafeRawBufferPointer
    ) throws -> Value {
        try read(type, from: json, .lenient)
    }

    /// Reads a caller's document strictly. An unknown, missing, null or repeated field, a value of another type, and a value that
    /// fails its ``Checked/check()`` are errors that name the field's path.
    ///
    /// The error for an unknown field lists the known ones if the type's `CodingKeys` are `CaseIterable`.
    ///
    /// - Throws: ``SchemaViolation``, and nothing else.
    package static func decodeStrictly<Value: Decodable>(_ type: Value.Type = Value.self, from json: Data) throws -> Value {
        do {
            return try json.withUnsafeBytes { try read(type, from: $0, .strict) }
        } catch {
            return try json.withUnsafeBytes { try read(type, from: $0, .explaining) }
        }
    }

    /// Whether bytes are a JSON document, whatever its form.
    package static func isValid(_ json: Data) -> Bool {
        json.withUnsafeBytes { bytes in
            var scanner = DocumentScanner(bytes, rules: .strict)
            return (try? scanner.scan()) != nil
        }
    }

    /// The text of a field of an object, even if the document has a syntax error after that field.
    ///
    /// - Returns: `nil` if there is no such field before the error, or if it is not a text.
    package static func text(of name: String, inDamaged json: UnsafeRawBufferPointer) -> String? {
        JSONDocument.text(of: name, inDamaged: json)
    }

    private static func read<Value: Decodable>(
        _ type: Value.Type, from json: UnsafeRawBufferPointer, _ strictness: JSONDocument.Strictness
    ) throws -> Value {
        do {
            return try JSONDocument.read(json, strictness) { document in
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

    /// Writes a document: without spaces, fields sorted by name, so that equal documents are equal bytes.
    ///
    /// - Throws: `EncodingError` for an infinite number or NaN; the errors of the type's `encode(to:)`.
    package static func encode(_ value: some Encodable) throws -> Data {
        try DocumentEncoder.encode(value)
    }
}
