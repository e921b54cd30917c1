import DequeModule

/// A pool of reusable items. It keeps as many as were recently in use at the same time. Pure: its owner creates and
/// destroys the items.
struct ReusePool<Item> {
    /// The window over which the maximum in use is counted.
    private let period: Duration
    private var spare: Deque<Item> = []
    private(set) var inUse = 0
    private var maxInUse = 0
    private var nextCount: ContinuousClock.Instant

    init(period: Duration, at now: ContinuousClock.Instant) {
        self.period = period
        nextCount = now + period
    }

    /// Takes an item.
    ///
    /// - Returns: `nil` if the pool is empty; then the caller makes one.
    mutating func take() -> Item? {
        inUse += 1
        maxInUse = max(maxInUse, inUse)
        return spare.popLast()
    }

    /// Returns an item to the pool.
    mutating func giveBack(_ item: Item) {
        inUse -= 1
        spare.append(item)
    }

    /// Undoes the count of an item that could not be made.
    mutating func gotNone() {
        inUse -= 1
    }

    /// Removes the items that were not needed in the last period; mostly none.
    mutating func unneeded(at now: ContinuousClock.Instant) -> [Item] {
        guard now >= nextCount else { return [] }
        nextCount = now + period
        defer { maxInUse = inUse }
        return takeOut(spare.count + inUse - maxInUse)
    }

    /// Removes all items.
    mutating func takeOutAll() -> [Item] {
        takeOut(spare.count)
    }

    private mutating func takeOut(_ count: Int) -> [Item] {
        guard count > 0 else { return [] }
        // The most recently used ones stay.
        defer { spare.removeFirst(count) }
        return Array(spare.prefix(count))
    }
}
