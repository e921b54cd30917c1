import CoreMetrics
import Instruments
import Schemas

/// Counts the answers to one command, and measures their durations.
struct CommandInstruments: Sendable {
    private let command: String
    private let ok: Counter
    private let duration: CoreMetrics.Timer

    /// - Returns: `nil` if the process has no port for metrics. Then no clock is read for a request.
    init?(_ command: String) {
        guard !(MetricsSystem.factory is NOOPMetricsHandler) else { return nil }
        self.command = command
        ok = Instrument.busRequests.counter(["command": command, "status": ReplyStatus.ok.rawValue])
        duration = Instrument.busRequestDuration.timer(["command": command])
    }

    /// - Parameter failure: The status of a failure; `nil` after a success.
    func record(since start: ContinuousClock.Instant, failure: ReplyStatus?) {
        duration.record(since: start)
        guard let failure else { return ok.increment() }
        // Rare, so it is made when it is needed.
        Instrument.busRequests.counter(["command": command, "status": failure.rawValue]).increment()
    }
}
