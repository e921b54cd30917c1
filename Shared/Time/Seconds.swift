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
