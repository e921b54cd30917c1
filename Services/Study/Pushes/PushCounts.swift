import CoreMetrics
import Instruments
import Store

/// How many pushes the message log has not stored yet, for the metrics.
struct PushCounts: Sendable {
    let store: Storage

    /// More pushes are not counted.
    private static let max = 100_000

    /// Sets the gauge. While the store cannot be read, it stays as it was.
    func collectMetrics() async {
        let count = try? await store.snapshot { try $0.count(StudyStore.queuedPushes, upTo: Self.max) }
        if let count { Instrument.studyPushesWaiting.gauge().set(count) }
    }
}
