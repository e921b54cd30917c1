/// Where a reader of JSON is stricter or less strict than RFC 8259.
package struct JSONRules: Sendable {
    /// The maximum depth of nesting.
    package var maxDepth: Int
    /// Whether an object may have several fields of one name. The last one counts.
    package var allowsRepeatedNames = false
    /// Whether numbers may exceed 64 bits.
    package var allowsNumbersOfAnySize = false

    package init(maxDepth: Int, allowsRepeatedNames: Bool = false, allowsNumbersOfAnySize: Bool = false) {
        self.maxDepth = maxDepth
        self.allowsRepeatedNames = allowsRepeatedNames
        self.allowsNumbersOfAnySize = allowsNumbersOfAnySize
    }

    /// The rules of the project's programs.
    package static let strict = JSONRules(maxDepth: 512)
}
