/// How long and how often something is tried that others stand in the way of: for a few seconds, with growing pauses, of
/// different lengths in different processes.
package struct Backoff {
    private let deadline = ContinuousClock.now + .seconds(5)
    private var pause = Duration.milliseconds(1)

    package init() {}

    /// The pause before the next attempt; `nil` where it has been tried for long enough.
    package mutating func nextPause() -> Duration? {
        guard ContinuousClock.now < deadline else { return nil }
        defer { pause = min(pause * 1.5, .milliseconds(100)) }
        return pause * Double.random(in: 0.5...1)
    }
}
