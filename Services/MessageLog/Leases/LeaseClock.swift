import Schemas

/// The time by which a claim judges whether other processes' leases have ended. Pure.
///
/// When the system clock is set forward, every lease looks over although its owner may still be at work. Such a step does not count
/// for as long as a lease lasts. Until then messages that are claimed are claimed by the former time, new ones as well.
struct LeaseClock: Sendable {
    /// A clock that is brought into step gently is not set.
    private static let tolerance: Int64 = 1_000

    /// How far the system clock was ahead of the other one, in milliseconds.
    private var lead: Int64
    /// A step forward, in milliseconds, and the uptime from which on it counts.
    private var step: (size: Int64, end: Int64)?

    /// - Parameters:
    ///   - wall: What the system clock says.
    ///   - uptime: What a clock says that only goes forward, in milliseconds.
    init(wall: UnixMilliseconds, uptime: Int64) {
        lead = wall - uptime
    }

    /// - Parameters: As for ``init(wall:uptime:)``.
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
