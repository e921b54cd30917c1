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
