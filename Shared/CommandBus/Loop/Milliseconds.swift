/// How long something takes or may take, in milliseconds.
///
/// The bus counts in it instead of in `Duration`, whose 128 bits have to be divided for each request.
struct Milliseconds: RawRepresentable, Comparable, AdditiveArithmetic, ExpressibleByIntegerLiteral, Sendable {
    let rawValue: Int64

    init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    init(integerLiteral value: Int64) {
        rawValue = value
    }

    /// Rounds up; from 0 to ``year``, so that nothing can overflow with it.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        if seconds >= Self.year.rawValue / 1_000 {
            self = .year
        } else if seconds < 0 || attoseconds < 0 {
            self = .zero
        } else {
            rawValue = seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        }
    }

    /// Longer than every timeout.
    static let year: Milliseconds = 31_536_000_000

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    static func + (left: Self, right: Self) -> Self { Self(rawValue: left.rawValue + right.rawValue) }

    static func - (left: Self, right: Self) -> Self { Self(rawValue: left.rawValue - right.rawValue) }
}
