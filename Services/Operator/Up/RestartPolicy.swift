/// When a process that has ended is started again. Pure: how long it ran, in; how long to wait, out.
///
/// The first restart comes almost at once, since most crashes are accidents; each further one waits twice as long, so that a
/// process that cannot run does not keep the machine busy; a good run starts the count afresh.
struct RestartPolicy: Sendable {
    static let first = Duration.milliseconds(100)
    static let longest = Duration.seconds(10)
    /// A run of this length was a good one.
    static let goodRun = Duration.seconds(10)

    private var failuresInARow = 0

    /// The wait before the next start, after a run of this length.
    mutating func delay(afterRunOf length: Duration) -> Duration {
        if length >= Self.goodRun { failuresInARow = 0 }
        let delay = min(Self.longest, Self.first * (1 << min(failuresInARow, 10)))
        failuresInARow += 1
        return delay
    }
}
