import JSON

/// The number of a document's changes: 1 for a new document, 0 for a document that another program wrote. Only the storage layer
/// makes new revisions. On the wire it is a number.
package struct Revision: RangedInteger, Hashable, Comparable, ExpressibleByIntegerLiteral, LosslessStringConvertible,
    Sendable
{
    package static let range: ClosedRange<Int64> = 0...Int64.max

    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }

    package init?(_ description: String) {
        guard let value = Int64(description) else { return nil }
        self.init(rawValue: value)
    }

    /// The revision of a document that another program wrote.
    package static let none: Revision = 0

    /// The revision that the next change makes.
    package var next: Revision { Revision(rawValue: rawValue == .max ? .max : rawValue + 1) }

    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
