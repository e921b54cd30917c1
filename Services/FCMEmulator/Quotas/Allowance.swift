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
    fileprivate func refills(at now: UnixMilliseconds) -> Int64 {
        let (shifted, every) = ((now - phase).rawValue, every.rawValue)
        return shifted >= 0 ? shifted / every : (shifted - every + 1) / every
    }

    /// When a refill comes.
    fileprivate func time(of refills: Int64) -> UnixMilliseconds { phase + every * refills }
}

/// The current content of one bucket.
struct Bucket: Hashable, Sendable {
    private var left: Int
    private var refills: Int64

    /// A full bucket.
    init(_ allowance: Allowance, now: UnixMilliseconds) {
        left = allowance.capacity
        refills = allowance.refills(at: now)
    }

    /// How much is left now.
    func left(of allowance: Allowance, now: UnixMilliseconds) -> Int {
        let newRefills = max(0, allowance.refills(at: now) - refills)
        let (gain, isEnormous) = newRefills.multipliedReportingOverflow(by: Int64(allowance.refill))
        return isEnormous || gain > allowance.capacity - left ? allowance.capacity : left + Int(gain)
    }

    /// Takes one.
    ///
    /// - Returns: The wait until the next refill; `nil` if one was taken.
    mutating func take(of allowance: Allowance, now: UnixMilliseconds) -> Milliseconds? {
        left = left(of: allowance, now: now)
        // A clock that is set back does not refill a second time.
        refills = max(refills, allowance.refills(at: now))
        guard left > 0 else { return allowance.time(of: refills + 1) - now }
        left -= 1
        return nil
    }

    /// Returns one that was taken and not used.
    mutating func putBack(_ allowance: Allowance) {
        left = min(allowance.capacity, left + 1)
    }
}
