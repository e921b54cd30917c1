import Schemas

/// Several allowances of each of many things: a message must fit into all of them.
struct Buckets<Key: Hashable & Sendable>: Sendable {
    let allowances: [Allowance]
    private var buckets: [Key: [Bucket]] = [:]
    private var sweepAt = 1_024

    init(_ allowances: [Allowance]) {
        self.allowances = allowances
    }

    /// Takes one from each of a thing's buckets, or none at all.
    ///
    /// - Returns: For how many milliseconds there is none; `nil` where there was one.
    mutating func take(_ key: Key, now: UnixMilliseconds) -> Int64? {
        guard !allowances.isEmpty else { return nil }
        sweep(now)
        var own = buckets[key] ?? allowances.map { Bucket($0, now: now) }
        var wait: Int64?
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

    /// Puts one back into each of a thing's buckets.
    mutating func putBack(_ key: Key) {
        for (index, allowance) in allowances.enumerated() { buckets[key]?[index].putBack(allowance) }
    }

    /// How many things it remembers.
    var count: Int { buckets.count }

    func left(_ key: Key, now: UnixMilliseconds) -> [Int] {
        allowances.enumerated().map { buckets[key]?[$0].left(of: $1, now: now) ?? $1.most }
    }

    /// Forgets full buckets, whenever there are twice as many as were not full the last time.
    private mutating func sweep(_ now: UnixMilliseconds) {
        guard buckets.count >= sweepAt else { return }
        buckets = buckets.filter { _, own in
            zip(own, allowances).contains { $0.left(of: $1, now: now) < $1.most }
        }
        sweepAt = max(1_024, 2 * buckets.count)
    }
}
