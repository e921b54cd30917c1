package import FoundationEssentials

/// The one way between JSON and the schemas: the same settings everywhere, and errors that name the field.
package enum SchemaJSON {
    /// Reads a document.
    ///
    /// - Throws: ``SchemaViolation``, and nothing else.
    package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from json: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: json)
        } catch let error as DecodingError {
            throw SchemaViolation(error)
        } catch {
            throw SchemaViolation(field: "", problem: "not valid JSON")
        }
    }

    /// Writes a document: keys sorted, so that equal documents are equal bytes; slashes as they are.
    package static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
