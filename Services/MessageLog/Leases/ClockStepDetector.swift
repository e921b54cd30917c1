import Schemas
import Time

/// Detects that the system clock was set back, by comparison with a monotonic clock. Pure.
struct ClockStepDetector {
    /// Larger differences are steps. NTP slews a clock in smaller ones.
    private static let tolerance: Milliseconds = 1_000

    /// Both clocks at the last call.
    private var last: (wall: UnixMilliseconds, monotonic: ContinuousClock.Instant)?

    /// - Parameters:
    ///   - wall: The system clock.
    ///   - monotonic: The monotonic clock.
    /// - Returns: Whether the system clock has been set back since the last call. The first call returns `true`, since the clock may
    ///   have been set back before.
    mutating func isSetBack(wall: UnixMilliseconds, monotonic: ContinuousClock.Instant) -> Bool {
        defer { last = (wall, monotonic) }
        guard let last else { return true }
        return Milliseconds(monotonic - last.monotonic) - (wall - last.wall) > Self.tolerance
    }
}
