package import FoundationEssentials

/// The way between JSON and the schemas: the same settings everywhere, and errors that name the field. Only `message.relay` and what
/// goes to FCM for it have quick ways of their own, which come here with all that is unusual.
///
/// Nearly every document is of a form that ``PlainDecoder`` and ``PlainEncoder`` know, which do in a few microseconds what takes
/// Foundation's coders tens of them. On every other, and on every error, Foundation's have the word.
package enum JSONCoder {
    /// Reads a document.
    ///
    /// - Throws: ``SchemaViolation``, and nothing else.
    package static func decode<Value: Decodable>(_ type: Value.Type = Value.self, from json: Data) throws -> Value {
        if let value = json.withUnsafeBytes({ PlainDecoder.decode(type, from: $0) }) { return value }
        // Foundation's decoder takes what is not JSON: names that are there twice, trailing commas, other encodings.
        try StrictJSON.check(json)
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
        if let plain = PlainEncoder.encode(value) { return Data(plain) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
