import Histogram
import MobileApp
import Synchronization

/// What the phones of a fleet have received, counted outside of their apps.
final class FleetLedger: Sendable {
    private struct State {
        /// By phone: the received messages, and how often.
        var received: [[String: Int]]
        var latencies = Histogram<UInt64>(highestTrackableValue: 3_600_000, numberOfSignificantValueDigits: .three)
        var counted: UInt64 = 0
        /// When every steady phone was ready, in Unix milliseconds.
        var ready = Int64.max
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(received: Array(repeating: [:], count: count)))
    }

    /// A phone's app has added a message.
    func note(_ message: StoredMessage, on phone: Int, isSteady: Bool, now: Int64) {
        state.withLock { state in
            state.received[phone][message.msiKey, default: 0] += 1
            guard isSteady, message.timestamp >= state.ready else { return }
            state.latencies.record(UInt64(clamping: max(0, now - message.timestamp)))
            state.counted += 1
        }
    }

    func isReady(at now: Int64) {
        state.withLock { $0.ready = now }
    }

    /// How often a phone has received each message.
    func received(on phone: Int) -> [String: Int] { state.withLock { $0.received[phone] } }

    /// A percentile of the latencies in milliseconds; `nil` without any.
    func latency(_ percentile: Double) -> Double? {
        state.withLock { $0.counted == 0 ? nil : Double($0.latencies.valueAtPercentile(percentile)) }
    }
}
