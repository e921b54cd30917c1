import Base

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

/// The lines about a process that ends and is started again. From the second end in a row without a good run on, they say why, by the
/// process's log. Pure: the end in, the line out.
struct EndReport: Sendable {
    /// The process's name.
    let name: String
    /// How many of the last runs have been short.
    private var shortRuns = 0
    /// The reason that was said last.
    private var said: String?

    init(name: String) {
        self.name = name
    }

    /// - Parameters:
    ///   - ending: How the process ended, for a sentence after its name.
    ///   - length: The duration of the run.
    ///   - delay: The wait before the next start.
    ///   - reason: What the log of that run says about the end; `nil` if it says nothing about it.
    mutating func line(
        _ ending: String, afterRunOf length: Duration, delay: Duration, reason: String?
    ) -> String {
        let line = "\(name) \(ending); starting it again in \(delay.formatted)"
        if length >= RestartPolicy.goodRun { (shortRuns, said) = (0, nil) }
        shortRuns += 1
        guard shortRuns > 1 else { return line }
        let reason = reason.map { "Its log: \($0)" } ?? "Its log has no line about it"
        guard reason != said else { return "\(line) (for the same reason as before)" }
        said = reason
        return "\(line). \(reason)"
    }
}
