package import Time

extension Backoff {
    /// Retries after conflicts with other writers: for five seconds from now on, with growing, random pauses.
    package static func contention() -> Backoff {
        Backoff(
            first: .milliseconds(1), factor: 1.5, max: .milliseconds(100), jitter: 0.5...1, deadline: .now + .seconds(5))
    }
}
