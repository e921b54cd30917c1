/// The pause between attempts, which grows with each failure in a row up to a maximum. Pure, except for the clock that a deadline
/// is compared with.
package struct Backoff: Sendable {
    /// The pause after the first failure.
    package let first: Duration
    /// The factor of growth for each further failure.
    package let factor: Double
    /// The maximum pause, before jitter.
    package let max: Duration
    /// The range of the random factor of a pause, so that many senders do not return at the same time; `1...1` for no jitter.
    package let jitter: ClosedRange<Double>
    /// No attempt begins after this time; `nil` for no end.
    package let deadline: ContinuousClock.Instant?

    /// The number of failures since the last success.
    package private(set) var failures = 0

    package init(
        first: Duration, factor: Double = 2, max: Duration, jitter: ClosedRange<Double> = 1...1,
        deadline: ContinuousClock.Instant? = nil
    ) {
        self.first = first
        self.factor = factor
        self.max = max
        self.jitter = jitter
        self.deadline = deadline
    }

    /// Pauses of the same length.
    package static func constant(_ pause: Duration) -> Backoff { Backoff(first: pause, max: pause) }

    /// An attempt has failed.
    ///
    /// - Parameter random: Any number from 0 to 1, for the jitter.
    /// - Returns: The pause before the next attempt.
    package mutating func failed(random: Double = .random(in: 0...1)) -> Duration {
        failures += 1
        return jittered(pause(after: failures), random: random)
    }

    /// An attempt has failed.
    ///
    /// - Returns: The pause before the next attempt; `nil` if that attempt would not begin before the deadline.
    package mutating func nextPause() -> Duration? {
        let pause = failed()
        if let deadline, .now + pause >= deadline { return nil }
        return pause
    }

    /// An attempt has succeeded: the next failure is a first one.
    package mutating func succeeded() {
        failures = 0
    }

    /// The pause after this many failures in a row, at least one, without jitter.
    package func pause(after failures: Int) -> Duration {
        var pause = Swift.min(first, max)
        var counted = 1
        while counted < failures, pause < max {
            pause = Swift.min(pause * factor, max)
            counted += 1
        }
        return pause
    }

    /// The pause that follows another one, without jitter. If there was none, it is the first one.
    package func pause(following last: Duration?) -> Duration {
        guard let last else { return Swift.min(first, max) }
        return Swift.min(Swift.max(first, Swift.min(last, max) * factor), max)
    }

    /// A pause with its jitter.
    ///
    /// - Parameter random: Any number from 0 to 1.
    package func jittered(_ pause: Duration, random: Double) -> Duration {
        pause * (jitter.lowerBound * (1 - random) + jitter.upperBound * random)
    }
}
