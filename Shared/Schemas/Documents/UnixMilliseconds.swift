package import FoundationEssentials
package import Base

/// A point in time, in milliseconds since 1970-01-01 UTC (seed, "Mobile App", `timestamp`). In documents and on the wire it
/// is a plain number.
///
/// The type lets the compiler refuse a duration, or a time of another clock, in its place.
package struct UnixMilliseconds: RawRepresentable, Codable, Hashable, Comparable, ExpressibleByIntegerLiteral,
    LosslessStringConvertible, Sendable
{
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

    /// A number that fits no 64 bits is refused with the range of a time, as any other number outside of it.
    package init(from decoder: any Decoder) throws {
        let value: Int64
        do {
            value = try decoder.singleValueContainer().decode(Int64.self)
        } catch let violation as SchemaViolation where violation.limit != nil {
            throw SchemaViolation(
                field: violation.field, problem: "expected an integer from 0 to \(maximumUnixMilliseconds)")
        }
        self.init(rawValue: value)
    }

    package var description: String { String(rawValue) }

    /// Whole seconds since 1970.
    package var seconds: Int64 { rawValue / 1_000 }

    /// The system clock's time.
    package static var now: UnixMilliseconds { Date().unixMilliseconds }

    /// The latest moment, which never comes.
    package static var max: UnixMilliseconds { UnixMilliseconds(rawValue: .max) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package static func + (moment: Self, time: Milliseconds) -> Self {
        Self(rawValue: moment.rawValue.adding(time.rawValue))
    }

    package static func - (moment: Self, time: Milliseconds) -> Self {
        Self(rawValue: moment.rawValue.subtracting(time.rawValue))
    }

    /// The time between two moments; negative if the second one is later.
    package static func - (later: Self, earlier: Self) -> Milliseconds {
        Milliseconds(rawValue: later.rawValue.subtracting(earlier.rawValue))
    }
}

extension Date {
    package init(_ moment: UnixMilliseconds) {
        self.init(timeIntervalSince1970: Double(moment.rawValue) / 1_000)
    }

    /// Whole milliseconds since 1970, rounded down. A moment that is too far away is the first or the last one.
    package var unixMilliseconds: UnixMilliseconds {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded(.down)
        return UnixMilliseconds(rawValue: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
    }
}

/// The last point in time that fits MongoDB's and JavaScript's dates: the end of the year 9999.
package let maximumUnixMilliseconds: UnixMilliseconds = 253_402_300_799_999
