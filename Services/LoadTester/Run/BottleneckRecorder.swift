import Synchronization

/// Polls a target for its bottlenecks, and counts the seconds of each.
final class BottleneckRecorder: Sendable {
    private static let interval = Duration.milliseconds(250)

    private let seconds = Mutex<[Bottleneck: Set<Int>]>([:])

    /// The number of seconds in which each was seen.
    var totals: [Bottleneck: Int] { seconds.withLock { $0.mapValues(\.count) } }

    /// Polls until the task is cancelled.
    func watch(_ target: some LoadTarget) async {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            let bottlenecks = await target.bottlenecks()
            let second = Int((ContinuousClock.now - start) / .seconds(1))
            seconds.withLock { seconds in
                for bottleneck in bottlenecks { seconds[bottleneck, default: []].insert(second) }
            }
            try? await Task.sleep(for: Self.interval)
        }
    }
}
