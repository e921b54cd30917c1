/// Why a document cannot be read.
package struct BSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field, the expected and the found value.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Bytes that are no document.
    static let malformed = BSONError("the bytes are no BSON document")
}
