/// A type that is written as one string. Any other string is an error that says what is valid.
package protocol TextCodable: Codable, LosslessStringConvertible {
    /// The valid strings, in words.
    static var expected: String { get }
    /// A regular expression of ECMA-262 that the valid strings match, for JSON Schema. Empty if none describes them.
    static var pattern: String { get }
    /// A valid string.
    static var example: String { get }
}

extension TextCodable {
    package static var pattern: String { "" }
    package static var example: String { "" }
}

extension TextCodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected \(Self.expected)")
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
