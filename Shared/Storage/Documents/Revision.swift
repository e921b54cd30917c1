package import MongoDatabase

/// The number of a document's changes: 1 for a new document, 0 for a document that another program wrote. Only the storage layer
/// makes new revisions.
package struct Revision: RawRepresentable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }

    /// The revision of a document that another program wrote.
    static let none: Revision = 0

    /// The revision that the next change makes.
    var next: Revision { Revision(rawValue: rawValue + 1) }

    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Revision: BSONConvertible {}
