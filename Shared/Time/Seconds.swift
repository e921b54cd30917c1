/// A duration in whole seconds, the unit of FCM and HTTP for times to live and waits. In documents and on the wire it is a number.
package struct Seconds: RawRepresentable, Codable, Hashable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible,
    Sendable
{
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package init(integerLiteral value: Int64) {
        self.init(rawValue: value)
    }

    /// Rounds towards zero.
    package init(_ time: Milliseconds) {
        self.init(rawValue: time.rawValue / 1_000)
    }

    /// Rounds away from zero, for a wait that must not end early.
    package init(roundingUp time: Milliseconds) {
        let (whole, rest) = time.rawValue.quotientAndRemainder(dividingBy: 1_000)
        self.init(rawValue: whole + rest.signum())
    }

    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Milliseconds {
    package init(_ time: Seconds) {
        self.init(rawValue: time.rawValue * 1_000)
    }
}

extension Duration {
    package init(_ time: Seconds) {
        self = .seconds(time.rawValue)
    }
}
