import Schemas

/// The clock that decides whether other processes' leases have ended. Pure.
///
/// When the system clock is set forward, every lease seems to have ended although its owner may still be working. So a step
/// forward is ignored for the duration of a lease. Until then all claims use the former time.
struct LeaseClock: Sendable {
    /// Larger differences are steps. NTP slews a clock in smaller ones.
    private static let tolerance: Int64 = 1_000

    /// The difference from the monotonic to the system clock, in milliseconds.
    private var lead: Int64
    /// A step forward in milliseconds, and the uptime from which it counts.
    private var step: (size: Int64, end: Int64)?

    /// - Parameters:
    ///   - wall: The system clock.
    ///   - uptime: A monotonic clock, in milliseconds.
    init(wall: UnixMilliseconds, uptime: Int64) {
        lead = wall - uptime
    }

    /// The time for a claim. The parameters are those of ``init(wall:uptime:)``.
    mutating func time(wall: UnixMilliseconds, uptime: Int64) -> UnixMilliseconds {
        let change = wall - uptime - lead
        lead += change
        if change > Self.tolerance {
            step = ((step?.size ?? 0) + change, uptime + Lease.duration)
        } else if change < -Self.tolerance, let forward = step {
            step = forward.size + change > Self.tolerance ? (forward.size + change, forward.end) : nil
        }
        if let step, uptime < step.end { return wall - step.size }
        step = nil
        return wall
    }
}
