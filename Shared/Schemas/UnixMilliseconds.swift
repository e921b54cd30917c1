package import FoundationEssentials

/// A moment as the project writes it everywhere: milliseconds since 1970-01-01 UTC (seed, "Mobile App", `timestamp`).
package typealias UnixMilliseconds = Int64

extension Date {
    /// Whole milliseconds since 1970, rounded down.
    package var unixMilliseconds: UnixMilliseconds {
        UnixMilliseconds((timeIntervalSince1970 * 1_000).rounded(.down))
    }
}

extension UnixMilliseconds {
    /// The system clock's time.
    package static var now: UnixMilliseconds { Date().unixMilliseconds }
}
