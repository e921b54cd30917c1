package import MongoDatabase

/// The number of a document's changes: 1 for a new document, 0 for another program's document. Only the layer makes new ones.
package struct Revision: RawRepresentable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }

    /// The revision of a document of another program.
    static let none: Revision = 0

    /// The revision that the next change makes.
    var next: Revision { Revision(rawValue: rawValue + 1) }

    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Revision: BSONConvertible {}
