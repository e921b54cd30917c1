/// Where a reader of JSON is stricter or less strict than RFC 8259.
package struct JSONRules: Sendable {
    /// How many objects and arrays may be inside one another.
    package var maxDepth: Int
    /// Whether an object may have several fields of one name. The last one counts.
    package var allowsRepeatedNames = false
    /// Whether a number may be too large or too small for 64 bits.
    package var allowsNumbersOfAnySize = false

    package init(maxDepth: Int, allowsRepeatedNames: Bool = false, allowsNumbersOfAnySize: Bool = false) {
        self.maxDepth = maxDepth
        self.allowsRepeatedNames = allowsRepeatedNames
        self.allowsNumbersOfAnySize = allowsNumbersOfAnySize
    }

    /// What the project's programs take of one another and of their clients.
    package static let strict = JSONRules(maxDepth: 512)
}
