/// A duration in whole milliseconds. In documents and on the wire it is a plain number.
///
/// It costs less than `Duration` where it is computed for each request: the 128 bits of a `Duration` have to be divided. It is
/// public because the compiler inlines only public declarations in other modules.
public struct Milliseconds: RawRepresentable, Codable, Hashable, Comparable, AdditiveArithmetic, ExpressibleByIntegerLiteral,
    CustomStringConvertible, Sendable
{
    public let rawValue: Int64

    @inlinable
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    @inlinable
    public init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }

    /// Rounds towards zero. A longer duration than ``max`` becomes ``max``.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(rawValue: seconds.multiplied(by: 1_000).adding(attoseconds / 1_000_000_000_000_000))
    }

    @inlinable
    public static func seconds(_ seconds: Int64) -> Self { Self(rawValue: seconds) * 1_000 }

    /// The longest duration.
    @inlinable
    public static var max: Milliseconds { Milliseconds(rawValue: .max) }

    public var description: String { String(rawValue) }

    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    @inlinable
    public static func + (left: Self, right: Self) -> Self { Self(rawValue: left.rawValue.adding(right.rawValue)) }

    @inlinable
    public static func - (left: Self, right: Self) -> Self { Self(rawValue: left.rawValue.subtracting(right.rawValue)) }

    @inlinable
    public static func * (time: Self, factor: Int64) -> Self { Self(rawValue: time.rawValue.multiplied(by: factor)) }
}

/// Arithmetic that ends at ``min`` and ``max`` and never traps: times come from clients, stored documents and other servers.
extension Int64 {
    @inlinable
    public func adding(_ other: Int64) -> Int64 {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    @inlinable
    public func subtracting(_ other: Int64) -> Int64 {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .max : .min) : difference
    }

    @inlinable
    public func multiplied(by factor: Int64) -> Int64 {
        let (product, isTooFar) = multipliedReportingOverflow(by: factor)
        return isTooFar ? ((self < 0) == (factor < 0) ? .max : .min) : product
    }
}

extension Duration {
    public init(_ time: Milliseconds) {
        self = .milliseconds(time.rawValue)
    }
}
