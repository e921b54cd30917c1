/// What is kept to be used again, as many of it as were lately in use at a time. Pure: whoever owns it makes and ends the items.
struct SparePool<Item> {
    /// How long it is remembered how many were in use.
    private let period: Duration
    private var spare: [Item] = []
    private(set) var inUse = 0
    private var maxInUse = 0
    private var nextCount: ContinuousClock.Instant

    init(period: Duration, at now: ContinuousClock.Instant) {
        self.period = period
        nextCount = now + period
    }

    /// Takes one into use.
    ///
    /// - Returns: `nil` where none is spare, and another has to be made for it.
    mutating func take() -> Item? {
        inUse += 1
        maxInUse = max(maxInUse, inUse)
        return spare.popLast()
    }

    /// One that was in use is spare.
    mutating func giveBack(_ item: Item) {
        inUse -= 1
        spare.append(item)
    }

    /// One that was to be taken into use could not be made.
    mutating func gotNone() {
        inUse -= 1
    }

    /// Takes out what was not needed in the last period; mostly nothing.
    mutating func unneeded(at now: ContinuousClock.Instant) -> [Item] {
        guard now >= nextCount else { return [] }
        nextCount = now + period
        defer { maxInUse = inUse }
        return takeOut(spare.count + inUse - maxInUse)
    }

    /// Takes out all that is spare.
    mutating func takeOutAll() -> [Item] {
        takeOut(spare.count)
    }

    private mutating func takeOut(_ count: Int) -> [Item] {
        guard count > 0 else { return [] }
        // Those that were used last stay.
        defer { spare.removeFirst(count) }
        return Array(spare.prefix(count))
    }
}
