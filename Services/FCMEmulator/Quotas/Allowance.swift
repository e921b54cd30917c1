import Schemas
import Time

/// The size of a bucket and its refill: some or all of it comes back at regular intervals.
struct Allowance: Hashable, Sendable {
    let capacity: Int
    /// How many come back at each refill; equal to the size for a full refill.
    let refill: Int
    /// The interval between refills.
    let every: Milliseconds
    /// The time of a refill. Only its remainder modulo ``every`` matters.
    let phase: UnixMilliseconds

    /// The number of refills up to a point in time.
    fileprivate func turn(at now: UnixMilliseconds) -> Int64 {
        let (shifted, every) = ((now - phase).rawValue, every.rawValue)
        return shifted >= 0 ? shifted / every : (shifted - every + 1) / every
    }

    /// When a refill comes.
    fileprivate func time(of turn: Int64) -> UnixMilliseconds { phase + every * turn }
}

/// The current content of one bucket.
struct Bucket: Hashable, Sendable {
    private var left: Int
    private var turn: Int64

    /// A full bucket.
    init(_ allowance: Allowance, now: UnixMilliseconds) {
        left = allowance.capacity
        turn = allowance.turn(at: now)
    }

    /// How much is left now.
    func left(of allowance: Allowance, now: UnixMilliseconds) -> Int {
        let turns = max(0, allowance.turn(at: now) - turn)
        let (gain, isEnormous) = turns.multipliedReportingOverflow(by: Int64(allowance.refill))
        return isEnormous || gain > allowance.capacity - left ? allowance.capacity : left + Int(gain)
    }

    /// Takes one.
    ///
    /// - Returns: The wait until the next refill; `nil` if one was taken.
    mutating func take(of allowance: Allowance, now: UnixMilliseconds) -> Milliseconds? {
        left = left(of: allowance, now: now)
        // A clock that is set back does not refill a second time.
        turn = max(turn, allowance.turn(at: now))
        guard left > 0 else { return allowance.time(of: turn + 1) - now }
        left -= 1
        return nil
    }

    /// Returns one that was taken and not used.
    mutating func putBack(_ allowance: Allowance) {
        left = min(allowance.capacity, left + 1)
    }
}
