import Schemas

/// Detects that the system clock was set back, by comparison with a monotonic clock. Pure.
struct ClockStepDetector {
    /// Larger differences are steps. NTP slews a clock in smaller ones.
    private static let tolerance: Int64 = 1_000

    /// The difference from the monotonic to the system clock, in milliseconds.
    private var lead: Int64?

    /// - Parameters:
    ///   - wall: The system clock.
    ///   - uptime: The monotonic clock, in milliseconds.
    /// - Returns: Whether the system clock was set back since the last call. The first call returns `true`, since the clock may
    /// have
    ///   been set back before.
    mutating func isSetBack(wall: UnixMilliseconds, uptime: Int64) -> Bool {
        let lead = wall - uptime
        defer { self.lead = lead }
        return self.lead.map { $0 - lead > Self.tolerance } ?? true
    }
}
