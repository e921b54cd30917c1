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
