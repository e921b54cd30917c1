/// Counts events by a key within windows of time, such as wrong codes by account. Pure: the caller passes the time.
///
/// A window begins with the first event after the one before has ended, for all keys at once. So its counts are forgotten together.
package struct WindowCounts<Key: Hashable & Sendable>: Sendable {
    private let length: Duration
    private let max: Int
    private var end: ContinuousClock.Instant?
    private var counts: [Key: Int] = [:]

    /// - Parameters:
    ///   - length: Of a window.
    ///   - max: The maximum number of events of a key within a window, unless a question has another one.
    package init(_ length: Duration, max: Int = .max) {
        self.length = length
        self.max = max
    }

    /// How long a further event of a key has to wait; zero if it need not.
    ///
    /// - Parameter max: The maximum number of its events; `nil` for that of all keys.
    package func wait(of key: Key, max: Int? = nil, now: ContinuousClock.Instant) -> Duration {
        guard let end = windowEnd(at: now), counts[key, default: 0] >= max ?? self.max else { return .zero }
        return now.duration(to: end)
    }

    /// The end of the window to which a moment belongs; `nil` for none. With a clock that was set back, it belongs to none.
    private func windowEnd(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        end.flatMap { now < $0 && now >= $0 - length ? $0 : nil }
    }

    /// Counts an event.
    package mutating func count(_ key: Key, now: ContinuousClock.Instant) {
        if windowEnd(at: now) == nil { (end, counts) = (now + length, [:]) }
        counts[key, default: 0] += 1
    }

    /// Takes an event back that turned out not to count.
    package mutating func uncount(_ key: Key) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}
