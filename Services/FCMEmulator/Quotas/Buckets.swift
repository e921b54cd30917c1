import Schemas
import Time

/// Buckets by key, one for each allowance. A message must fit into all buckets of its key.
struct Buckets<Key: Hashable & Sendable>: Sendable {
    let allowances: [Allowance]
    private var buckets: [Key: [Bucket]] = [:]
    private var sweepAt = 1_024

    init(_ allowances: [Allowance]) {
        self.allowances = allowances
    }

    /// Takes one from each bucket of a key, or from none.
    ///
    /// - Returns: The wait if one of them is empty; `nil` if one was taken from each.
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

    /// Removes full buckets once there are twice as many as were left after the last sweep.
    private mutating func sweep(_ now: UnixMilliseconds) {
        guard buckets.count >= sweepAt else { return }
        buckets = buckets.filter { _, own in
            zip(own, allowances).contains { $0.left(of: $1, now: now) < $1.capacity }
        }
        sweepAt = max(1_024, 2 * buckets.count)
    }
}
