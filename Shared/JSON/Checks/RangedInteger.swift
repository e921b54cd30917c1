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
