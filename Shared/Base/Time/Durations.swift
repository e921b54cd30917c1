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

/// Saturating arithmetic: results are clamped to ``min`` and ``max`` instead of trapping, since times come from clients, stored documents
/// and other servers.
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

/// A duration in whole seconds, the unit of FCM and HTTP for times to live and waits. In documents and on the wire it is a number.
///
/// It is public because the compiler inlines only public declarations in other modules.
public struct Seconds: RawRepresentable, Codable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible,
    Sendable
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

    /// Rounds towards zero.
    @inlinable
    public init(_ time: Milliseconds) {
        self.init(rawValue: time.rawValue / 1_000)
    }

    /// Rounds away from zero, for a wait that must not end early.
    @inlinable
    public init(roundingUp time: Milliseconds) {
        let (whole, rest) = time.rawValue.quotientAndRemainder(dividingBy: 1_000)
        self.init(rawValue: whole + rest.signum())
    }

    public var description: String { String(rawValue) }

    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Milliseconds {
    @inlinable
    public init(_ time: Seconds) {
        self.init(rawValue: time.rawValue.multiplied(by: 1_000))
    }
}

extension Duration {
    @inlinable
    public init(_ time: Seconds) {
        self = .seconds(time.rawValue)
    }
}
