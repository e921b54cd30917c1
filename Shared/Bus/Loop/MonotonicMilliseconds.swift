import Schemas
import Synchronization
import Base

#if canImport(Glibc)
    import Glibc
#endif

/// A point in time on the monotonic clock, in milliseconds. Its zero is arbitrary.
///
/// The type lets the compiler refuse a wall time in its place.
struct MonotonicMilliseconds: RawRepresentable, AtomicRepresentable, Comparable, ExpressibleByIntegerLiteral, Sendable {
    let rawValue: Int64

    /// The current time.
    static func now() -> MonotonicMilliseconds {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicMilliseconds(rawValue: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Later than every other one: it never comes.
    static let max = MonotonicMilliseconds(rawValue: .max)

    init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    init(integerLiteral value: Int64) {
        rawValue = value
    }

    /// The next multiple of an interval, so that the ticks of all participants come at the same moments.
    func next(_ interval: Milliseconds) -> Self {
        Self(rawValue: (rawValue / interval.rawValue + 1) * interval.rawValue)
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    static func + (moment: Self, time: Milliseconds) -> Self { Self(rawValue: moment.rawValue + time.rawValue) }

    static func - (later: Self, earlier: Self) -> Milliseconds { Milliseconds(rawValue: later.rawValue - earlier.rawValue) }
}

/// A point in time on both clocks. The bus uses the monotonic one for timers and the wall clock for headers.
struct ClockReading: Sendable {
    let monotonic: MonotonicMilliseconds
    let wall: UnixMilliseconds

    /// The current time.
    static var now: ClockReading { ClockReading(monotonic: .now(), wall: .now) }
}

extension Milliseconds {
    /// Rounds up; from 0 to ``year``, so that nothing can overflow with it.
    init(timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        if seconds >= Self.year.rawValue / 1_000 {
            self = .year
        } else if seconds < 0 || attoseconds < 0 {
            self = .zero
        } else {
            self.init(rawValue: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
    }

    /// Longer than every timeout.
    static let year: Milliseconds = 31_536_000_000
}
