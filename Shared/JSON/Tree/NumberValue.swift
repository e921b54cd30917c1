/// The exact value of a JSON number, which may have several spellings: `100`, `100.0` and `1e2` are equal.
///
/// Digits that a `Double` would lose count: 9007199254740993 does not equal 9007199254740992.
struct NumberValue: Hashable {
    private let isNegative: Bool
    /// The digits from the first to the last one that is not 0; none for zero.
    private let digits: [UInt8]
    /// The value is the integer of these digits, times this power of ten.
    private let exponent: Int

    /// Greater powers of ten count as this one.
    private static let maxPower = Int.max / 2

    /// - Parameter spelling: A number as JSON spells it.
    init(_ spelling: String) {
        let bytes = Array(spelling.utf8)
        let end = bytes.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } ?? bytes.endIndex
        let decimals = bytes[..<end].firstIndex(of: UInt8(ascii: ".")).map { end - $0 - 1 } ?? 0
        let significant = bytes[..<end].filter { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "-") }
            .drop { $0 == UInt8(ascii: "0") }
        let zeros = significant.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        digits = Array(significant.dropLast(zeros))
        isNegative = bytes.first == UInt8(ascii: "-") && !digits.isEmpty
        exponent = digits.isEmpty ? 0 : Self.power(String(decoding: bytes[end...].dropFirst(), as: UTF8.self)) + zeros - decimals
    }

    /// The number after `e`; 0 if there is none.
    private static func power(_ text: String) -> Int {
        let power = text.isEmpty ? 0 : Int(text) ?? (text.hasPrefix("-") ? .min : .max)
        return min(max(power, -maxPower), maxPower)
    }
}
