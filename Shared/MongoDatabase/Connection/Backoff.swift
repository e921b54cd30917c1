/// Retries after conflicts: for a few seconds, with growing, random pauses.
package struct Backoff {
    private let deadline = ContinuousClock.now + .seconds(5)
    private var pause = Duration.milliseconds(1)

    package init() {}

    /// The pause before the next attempt; `nil` once the time is over.
    package mutating func nextPause() -> Duration? {
        guard ContinuousClock.now < deadline else { return nil }
        defer { pause = min(pause * 1.5, .milliseconds(100)) }
        return pause * Double.random(in: 0.5...1)
    }
}
