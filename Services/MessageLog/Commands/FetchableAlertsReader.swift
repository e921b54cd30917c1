import Synchronization

/// Gives the fetchable Alerts to phones and gateways. It reads them at most four times a second, however many ask.
///
/// Ask for them before a page of accepted messages is read: an Alert that FCM accepts in between is then in both, and not in neither.
/// That also holds for those of a moment ago.
final class FetchableAlertsReader: Sendable {
    /// How old the Alerts may be.
    static let maxAge = Duration.milliseconds(250)

    private struct State {
        /// The current reading, or the last one.
        var reading: Task<FetchableAlerts, any Error>?
        var began: ContinuousClock.Instant?
        var isReading = false
    }

    private let state = Mutex(State())
    private let read: @Sendable () async throws -> FetchableAlerts

    init(read: @escaping @Sendable () async throws -> FetchableAlerts) {
        self.read = read
    }

    /// The Alerts of a moment ago. Concurrent callers share one reading.
    ///
    /// - Parameter instant: The present.
    /// - Throws: The error of the store. The next caller reads again.
    func alerts(at instant: ContinuousClock.Instant = .now) async throws -> FetchableAlerts {
        let reading = state.withLock { state -> Task<FetchableAlerts, any Error> in
            if let reading = state.reading, let began = state.began, state.isReading || instant - began < Self.maxAge {
                return reading
            }
            let reading = Task { try await self.readOnce() }
            state = State(reading: reading, began: instant, isReading: true)
            return reading
        }
        return try await reading.value
    }

    private func readOnce() async throws -> FetchableAlerts {
        do {
            let alerts = try await read()
            state.withLock { $0.isReading = false }
            return alerts
        } catch {
            state.withLock { $0 = State() }
            throw error
        }
    }
}
