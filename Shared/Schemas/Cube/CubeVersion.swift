import Base

/// Counts the changes of the cube. Only a store makes new versions: one for each change, in the same transaction.
///
/// In documents and on the wire it is a number.
package struct CubeVersion: RangedInteger, Hashable, Comparable, ExpressibleByIntegerLiteral,
    LosslessStringConvertible, Sendable
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

    /// The version of a cube that was never changed.
    package static let initial: CubeVersion = 0

    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
