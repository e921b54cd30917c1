/// An enumeration of strings. Any other value is an error that lists the valid ones.
public protocol ClosedEnum: CaseIterable, Codable, Hashable, RawRepresentable, Sendable where RawValue == String {}

extension ClosedEnum {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(rawValue: text) else {
            let allowed = Self.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected one of \(allowed), found \"\(String(text.unicodeScalars.prefix(40)))\""
            )
        }
        self = value
    }
}

/// A type that is coded as one string. Decoding an invalid string throws an error that describes the valid ones (``expected``).
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

/// A type that is written as one integer within a range. Any other number is an error that says the range.
package protocol RangedInteger: Codable, RawRepresentable where RawValue == Int64 {
    static var range: ClosedRange<Int64> { get }

    init(rawValue: Int64)
}

extension RangedInteger {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value = try container.decode(Int64.self)
        guard Self.range.contains(value) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.range.expectation(value))
        }
        self.init(rawValue: value)
    }
}
