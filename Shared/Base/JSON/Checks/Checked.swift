/// A type with rules that the types of its fields cannot express, such as the length of a text.
///
/// A check by ``FieldLimit`` or by types that use it, such as ranges, is also a part of the type's JSON Schema.
///
/// ``JSONCoder/decodeStrictly(_:from:)`` calls the check after it has read an object as this type. ``JSONCoder/decode(_:from:)``
/// does not: a rule that becomes stricter must not make stored documents unreadable.
package protocol Checked {
    /// - Throws: The violation, with the field's path inside this object.
    func check() throws(SchemaViolation)
}

extension SchemaViolation {
    /// A violation of one field of the checked object.
    ///
    /// - Parameter limit: The limit that the field's value breaks, if JSON Schema can express it.
    package init(_ field: some CodingKey, _ problem: String, limit: FieldLimit? = nil) {
        self.init(field: field.stringValue, problem: problem, limit: limit)
    }
}

extension ClosedRange {
    /// Checks an optional number.
    ///
    /// - Throws: A violation that names the field and the range.
    @inlinable
    public func check(_ number: Bound?, _ field: some CodingKey) throws(SchemaViolation) {
        guard let number, !contains(number) else { return }
        throw violation(number, field.stringValue)
    }

    /// Checks the numbers of a list.
    ///
    /// - Throws: A violation that names the element and the range.
    package func check(each numbers: [Bound], _ field: some CodingKey) throws(SchemaViolation) {
        guard let index = numbers.firstIndex(where: { !contains($0) }) else { return }
        throw violation(numbers[index], "\(field.stringValue)[\(index)]")
    }

    @usableFromInline
    func violation(_ number: Bound, _ field: String) -> SchemaViolation {
        let bounds = (Int64("\(lowerBound)"), Int64("\(upperBound)"))
        let limit: FieldLimit? = if let first = bounds.0, let last = bounds.1 { .range(first...last) } else { nil }
        return SchemaViolation(field: field, problem: expectation(number), limit: limit)
    }

    func expectation(_ number: Bound) -> String {
        "expected an integer from \(lowerBound) to \(upperBound), found \(number)"
    }
}

/// A limit of a field that a check enforces. The JSON Schema of the field states it as well.
package struct FieldLimit: Sendable {
    /// Keywords of JSON Schema, such as `maxLength`.
    package let keywords: JSONValue
    /// A value within the limit.
    package let example: JSONValue

    package init(keywords: JSONValue, example: JSONValue) {
        self.keywords = keywords
        self.example = example
    }

    /// A range of integers. For a list or a text it is the range of its length.
    package static func range(_ range: ClosedRange<Int64>) -> FieldLimit {
        FieldLimit(
            keywords: ["minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)],
            example: .integer(range.lowerBound))
    }

    /// - Parameters:
    ///   - pattern: A regular expression of ECMA-262 that the valid texts match.
    ///   - example: A text that matches it.
    package static func pattern(_ pattern: String, example: String) -> FieldLimit {
        FieldLimit(keywords: ["pattern": .string(pattern), "examples": [.string(example)]], example: .string(example))
    }
}
