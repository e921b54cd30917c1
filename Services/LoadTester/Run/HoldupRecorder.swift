import Synchronization

/// Polls a target for what limits it, and counts the seconds by cause.
final class HoldupRecorder: Sendable {
    private static let interval = Duration.milliseconds(250)

    private let seconds = Mutex<[Holdup: Set<Int>]>([:])

    /// The number of seconds in which each was seen.
    var totals: [Holdup: Int] { seconds.withLock { $0.mapValues(\.count) } }

    /// Polls until the task is cancelled.
    func watch(_ target: some LoadTarget) async {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            let holdups = await target.holdups()
            let second = Int((ContinuousClock.now - start) / .seconds(1))
            seconds.withLock { seconds in
                for holdup in holdups { seconds[holdup, default: []].insert(second) }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }
}
