/// A document that is not what it should be.
package struct BSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which field, what is expected there, and what is found.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Bytes that are no document.
    static let malformed = BSONError("the bytes are no BSON document")
}
