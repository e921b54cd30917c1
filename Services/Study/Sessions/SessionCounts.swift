import CoreMetrics
import Instruments
import Schemas
import Synchronization

/// How many classes and open sessions there are, and how many persons are in these. They are counted now and then, for the
/// metrics.
final class SessionCounts: Sendable {
    private let changes: StudyChanges
    /// `nil` until they were counted.
    private let counts = Mutex<CountStudy.Reply?>(nil)

    init(changes: StudyChanges) {
        self.changes = changes
    }

    /// Counts all of them again.
    func recount() async throws {
        let counted = try await CountStudy.Reply(of: changes)
        counts.withLock { $0 = counted }
    }

    /// Sets the gauges.
    func collectMetrics() {
        let counts = counts.withLock(\.self)
        Instrument.studyClasses.gauge().set(counts?.classes ?? 0)
        Instrument.studySessions.gauge().set(counts?.sessions ?? 0)
        Instrument.studyAttendants.gauge().set(counts?.attendants ?? 0)
    }
}
