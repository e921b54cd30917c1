/// The fields of one JSON object that somebody sent: each is read once, checked, and named when it is wrong. A field
/// that is not expected is an error as well, because the sender meant something by it that would be lost.
///
/// Stored documents and replies are read without it: a newer service may add a field to them, and an older reader must
/// go on working.
package struct StrictFields<Key: CodingKey & CaseIterable> {
    private let container: KeyedDecodingContainer<Key>

    package init(of decoder: any Decoder, as keys: Key.Type = Key.self) throws {
        container = try decoder.container(keyedBy: keys)
        // All names differ: as many as are known are all of them.
        if let document = decoder as? DocumentDecoder, document.fieldCount == Key.allCases.count(where: container.contains) {
            return
        }
        for sent in try decoder.container(keyedBy: AnyKey.self).allKeys where Key(stringValue: sent.stringValue) == nil {
            let known = Key.allCases.map(\.stringValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath + [AnyKey(sent.stringValue.prefix(60))],
                    debugDescription: known.isEmpty
                        ? "not a field of this object, which has none" : "not a field of this object, which has: \(known)"))
        }
    }

    /// A required field of any type.
    package func value<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) throws -> Value {
        try container.decode(type, forKey: key)
    }

    /// A field that may be left out (but not be null: null is not a way to leave it out).
    package func optional<Value: Decodable>(_ key: Key, as type: Value.Type = Value.self) throws -> Value? {
        container.contains(key) ? try container.decode(type, forKey: key) : nil
    }

    /// A required integer within a range.
    package func integer(_ key: Key, in range: ClosedRange<Int64>) throws -> Int64 {
        let number: Int64
        do {
            number = try container.decode(Int64.self, forKey: key)
        } catch {
            // A number that is no integer, or no 64-bit one.
            guard let found = error as? SchemaViolation, found.problem.hasPrefix("expected an integer from") else { throw error }
            throw violation(key, "expected an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        guard range.contains(number) else {
            throw violation(key, "expected an integer from \(range.lowerBound) to \(range.upperBound), found \(number)")
        }
        return number
    }

    /// An integer within a range that may be left out.
    package func optionalInteger(_ key: Key, in range: ClosedRange<Int64>) throws -> Int64? {
        container.contains(key) ? try integer(key, in: range) : nil
    }

    /// Whether a field was sent.
    package func contains(_ key: Key) -> Bool { container.contains(key) }

    /// An error about one field of this object.
    package func violation(_ key: Key, _ problem: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: container, debugDescription: problem)
    }
}

/// Any key at all, to see which ones were sent.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: some StringProtocol) { stringValue = String(name) }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
