import Schemas
import Time

/// The clock that decides whether other processes' leases have ended. Pure.
///
/// When the system clock is set forward, every lease seems to have ended although its owner may still be working. So a step
/// forward is ignored for the duration of a lease. Until then all claims use the former time. Items without a lease do not wait for
/// it (``Outbox/makeUnleasedItemsDue(at:by:)``).
struct LeaseClock: Sendable {
    /// Larger differences are steps. NTP slews a clock in smaller ones.
    private static let tolerance: Milliseconds = 1_000

    /// Both clocks at the last call.
    private var last: (wall: UnixMilliseconds, monotonic: ContinuousClock.Instant)
    /// A step forward, and the moment from which it counts.
    private var step: (size: Milliseconds, end: ContinuousClock.Instant)?

    /// - Parameters:
    ///   - wall: The system clock.
    ///   - monotonic: A monotonic clock.
    init(wall: UnixMilliseconds, monotonic: ContinuousClock.Instant) {
        last = (wall, monotonic)
    }

    /// The time for a claim. The parameters are those of ``init(wall:monotonic:)``.
    mutating func time(wall: UnixMilliseconds, monotonic: ContinuousClock.Instant) -> UnixMilliseconds {
        let change = (wall - last.wall) - Milliseconds(monotonic - last.monotonic)
        last = (wall, monotonic)
        if change > Self.tolerance {
            step = ((step?.size ?? 0) + change, monotonic + Duration(Lease.duration))
        } else if change < .zero - Self.tolerance, let forward = step {
            step = forward.size + change > Self.tolerance ? (forward.size + change, forward.end) : nil
        }
        if let step, monotonic < step.end { return wall - step.size }
        step = nil
        return wall
    }
}
