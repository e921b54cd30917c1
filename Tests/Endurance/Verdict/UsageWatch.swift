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
