/// Any JSON value as written: with the order of fields and the digits of numbers.
///
/// Objects are equal if they have the same fields in any order, numbers if they have the same value, and texts and names if they
/// have the same bytes.
package enum JSONValue: Sendable {
    case object([Member])
    case array([JSONValue])
    case string(String)
    /// The digits as written.
    case number(String)
    case boolean(Bool)
    case null

    /// A field of an object.
    package struct Member: Hashable, Sendable {
        package let name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }
}

// MARK: Parts

extension JSONValue {
    /// A field of an object, the last one if several have the name; `nil` if it is missing or this is not an object. Assigning
    /// `nil` removes the field.
    package subscript(name: String) -> JSONValue? {
        get {
            members?.last { ExactText($0.name) == ExactText(name) }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            let place = members.lastIndex { ExactText($0.name) == ExactText(name) }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (nil, let value?): members.append(Member(name, value))
            case (_, nil): members.removeAll { ExactText($0.name) == ExactText(name) }
            }
            self = .object(members)
        }
    }

    /// An object's fields.
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// An array's elements.
    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// A number's digits.
    package var number: String? {
        if case .number(let digits) = self { digits } else { nil }
    }

    /// A number that is an integer of 64 bits.
    package var integer: Int64? { number.flatMap { Int64($0) } }
}

extension JSONValue: CustomStringConvertible {
    package var description: String { text }
}

extension JSONValue: Hashable {
    package static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.object(let members), .object(let others)): byName(members) == byName(others)
        case (.array(let elements), .array(let others)): elements == others
        case (.string(let text), .string(let otherText)): ExactText(text) == ExactText(otherText)
        case (.number(let digits), .number(let otherDigits)):
            digits == otherDigits || NumberValue(digits) == NumberValue(otherDigits)
        case (.boolean(let value), .boolean(let otherValue)): value == otherValue
        case (.null, .null): true
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .object(let members): hasher.combine(Self.byName(members))
        case .array(let elements): hasher.combine(elements)
        case .string(let text): hasher.combine(ExactText(text))
        case .number(let digits): hasher.combine(NumberValue(digits))
        case .boolean(let value): hasher.combine(value)
        case .null: break
        }
    }

    private static func byName(_ members: [Member]) -> [ExactText: JSONValue] {
        Dictionary(members.map { (ExactText($0.name), $0.value) }) { _, last in last }
    }
}

// MARK: Literals

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value.description) }
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(members.map { Member($0.0, $0.1) })
    }
}

/// A text that equals another one if their bytes are the same, as the texts of JSON do (RFC 8259, section 8.3).
///
/// Swift's `String` compares by canonical equivalence: to it, "é" equals an "e" with a combining accent.
package struct ExactText: Hashable, Sendable {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (one: Self, other: Self) -> Bool {
        // The first comparison is fast, and fails for most texts that are not equal.
        one.text == other.text && one.text.utf8.elementsEqual(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        let isDone = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) } != nil
        if !isDone { for byte in text.utf8 { hasher.combine(byte) } }
    }
}

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
