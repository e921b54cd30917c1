import Synchronization
import TestSupport

/// Samples a process's resources periodically.
final class UsageWatch: Sendable {
    private let process: Int32
    private let period: Duration
    private let samples = Mutex(UsageRecord())

    init(_ process: Int32, every period: Duration) {
        self.process = process
        self.period = period
    }

    var record: UsageRecord { samples.withLock { $0 } }

    /// Samples until the task is cancelled.
    ///
    /// - Throws: An error from `/proc` if the process has ended.
    func run() async throws {
        while !Task.isCancelled {
            let usage = try ProcessUsage(of: process)
            samples.withLock { $0.append(usage) }
            // A cancellation ends the wait.
            try? await Task.sleep(for: period)
        }
    }
}

/// Samples of a process's resources at regular intervals.
struct UsageRecord: Sendable {
    private(set) var samples: [ProcessUsage] = []

    var last: ProcessUsage? { samples.last }

    mutating func append(_ usage: ProcessUsage) {
        samples.append(usage)
    }

    /// The median of a figure in the second and in the last fifth of the time. The first fifth is the warm-up. `nil` if there are
    /// too few samples.
    func course(of figure: KeyPath<ProcessUsage, Int>) -> (from: Int, to: Int)? {
        let fifth = samples.count / 5
        guard fifth > 0 else { return nil }
        return (
            Self.median(samples[fifth..<2 * fifth].map { $0[keyPath: figure] }),
            Self.median(samples.suffix(fifth).map { $0[keyPath: figure] })
        )
    }

    private static func median(_ values: [Int]) -> Int {
        values.sorted()[values.count / 2]
    }
}
