import Synchronization
import TestSupport

/// Looks at a process again and again.
final class UsageWatch: Sendable {
    private let process: Int32
    private let period: Duration
    private let samples = Mutex(UsageRecord())

    init(_ process: Int32, every period: Duration) {
        self.process = process
        self.period = period
    }

    var record: UsageRecord { samples.withLock { $0 } }

    /// Until the task is cancelled.
    ///
    /// - Throws: What `/proc` says where there is no such process any more.
    func run() async throws {
        while !Task.isCancelled {
            let usage = try ProcessUsage(of: process)
            samples.withLock { $0.append(usage) }
            // Cancelled, it has ended.
            try? await Task.sleep(for: period)
        }
    }
}
