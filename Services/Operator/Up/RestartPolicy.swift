import Time

/// The wait before a process is restarted. Pure: the duration of the run in, the wait out.
///
/// The first restart comes almost at once. Each further wait is twice as long, so that a process that cannot run does not keep
/// the machine busy. A long run resets the wait.
struct RestartPolicy: Sendable {
    /// The minimum run that resets the wait.
    static let goodRun = Duration.seconds(10)

    private var backoff = Backoff(first: .milliseconds(100), max: .seconds(10))

    /// The wait before the next start, after a run of this length.
    mutating func delay(afterRunOf length: Duration) -> Duration {
        if length >= Self.goodRun { backoff.succeeded() }
        return backoff.failed()
    }
}
