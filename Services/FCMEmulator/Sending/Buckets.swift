import Schemas
import Base

/// Buckets by key, one for each allowance. A message must fit into all buckets of its key.
struct Buckets<Key: Hashable & Sendable>: Sendable {
    let allowances: [Allowance]
    private var buckets: [Key: [Bucket]] = [:]
    private var sweepAt = 1_024

    init(_ allowances: [Allowance]) {
        self.allowances = allowances
    }

    /// Takes a token from each bucket of a key, or from none of them if one is empty.
    ///
    /// - Returns: The wait if a bucket is empty; `nil` if the tokens were taken.
    mutating func take(_ key: Key, now: UnixMilliseconds) -> Milliseconds? {
        guard !allowances.isEmpty else { return nil }
        sweep(now)
        var own = buckets[key] ?? allowances.map { Bucket($0, now: now) }
        var wait: Milliseconds?
        for (index, allowance) in allowances.enumerated() {
            wait = own[index].take(of: allowance, now: now)
            guard wait == nil else {
                for taken in 0..<index { own[taken].putBack(allowances[taken]) }
                break
            }
        }
        buckets[key] = own
        return wait
    }

    /// Returns one to each bucket of a key.
    mutating func putBack(_ key: Key) {
        for (index, allowance) in allowances.enumerated() { buckets[key]?[index].putBack(allowance) }
    }

    /// The number of keys with buckets.
    var count: Int { buckets.count }

    func left(_ key: Key, now: UnixMilliseconds) -> [Int] {
        allowances.enumerated().map { buckets[key]?[$0].left(of: $1, now: now) ?? $1.capacity }
    }

    /// Removes full buckets once there are twice as many buckets as after the last sweep.
    private mutating func sweep(_ now: UnixMilliseconds) {
        guard buckets.count >= sweepAt else { return }
        buckets = buckets.filter { _, own in
            zip(own, allowances).contains { $0.left(of: $1, now: now) < $1.capacity }
        }
        sweepAt = max(1_024, 2 * buckets.count)
    }
}

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

    /// The time of the refill with this number; the inverse of ``refills(at:)``.
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
