import TestSupport

/// Since when items have been due, on a monotonic clock. The machine's clock was set, and may be an hour off. Pure.
struct DueTimes<Key: Hashable & Sendable>: Sendable {
    private var items: [Key: (moment: Int64, since: ContinuousClock.Instant)] = [:]

    /// Notes when an item is due. Its time begins when its moment has come, and again if it has another moment.
    ///
    /// - Parameters:
    ///   - moment: In Unix milliseconds.
    ///   - wall: The wall clock, in Unix milliseconds.
    mutating func note(
        _ key: Key, due moment: Int64, wall: Int64 = .nowInMilliseconds, now: ContinuousClock.Instant = .now
    ) {
        if moment >= wall || items[key]?.moment != moment { items[key] = (moment, now) }
    }

    /// Whether an item has been due for longer than a limit.
    func isOverdue(_ key: Key, by limit: Duration, now: ContinuousClock.Instant = .now) -> Bool {
        items[key].map { now - $0.since > limit } ?? false
    }
}
