/// Counts the sends of the last minute, by the second. Pure. Times are those of any monotonic clock.
struct MinuteCount: Sendable {
    private static let seconds = 60

    private let begin: ContinuousClock.Instant
    /// The count of each second, at its number modulo 60.
    private var counts = [Int](repeating: 0, count: seconds)
    /// The number of the last second that is counted.
    private var last = 0

    init(at now: ContinuousClock.Instant) {
        begin = now
    }

    mutating func add(_ count: Int, at now: ContinuousClock.Instant) {
        advance(to: now)
        counts[last % Self.seconds] += count
    }

    /// The sum of the last 60 seconds; the current second counts as one of them.
    func sum(at now: ContinuousClock.Instant) -> Int {
        var current = self
        current.advance(to: now)
        return current.counts.reduce(0, +)
    }

    private mutating func advance(to now: ContinuousClock.Instant) {
        let current = max(last, Int((now - begin).components.seconds))
        for second in max(last, current - Self.seconds)..<current { counts[(second + 1) % Self.seconds] = 0 }
        last = current
    }
}
