import Histogram
import MobileApp
import Synchronization

/// What the phones of a fleet have received, counted outside of their apps.
final class FleetLedger: Sendable {
    private struct State {
        /// By phone: the received messages, and how often.
        var received: [[String: Int]]
        /// By phone: the Alerts that it has removed because they were recalled.
        var recalled: [Set<String>]
        var latencies = Histogram<UInt64>(highestTrackableValue: 3_600_000, numberOfSignificantValueDigits: .three)
        var counted: UInt64 = 0
        /// On how many steady phones a message is that has not reached all of them.
        var reached: [String: Int] = [:]
        /// The steady phones to which FCM has brought a message that they had already, by `msi_key`.
        var pushedLater: [String: Set<Int>] = [:]
        /// When every steady phone was ready, in Unix milliseconds.
        var ready = Int64.max
    }

    private let state: Mutex<State>

    private let steady: Int

    /// - Parameter steady: How many of the phones have what they should have at any time.
    init(count: Int, steady: Int) {
        self.steady = steady
        state = Mutex(State(received: Array(repeating: [:], count: count), recalled: Array(repeating: [], count: count)))
    }

    /// A phone's app has added a message.
    ///
    /// - Returns: Whether the message, which was posted since the fleet was ready, is now on every steady phone.
    func note(_ message: StoredMessage, on phone: Int, isSteady: Bool, now: Int64) -> Bool {
        state.withLock { state in
            let times = state.received[phone][message.msiKey, default: 0] + 1
            state.received[phone][message.msiKey] = times
            guard isSteady, message.timestamp >= state.ready else { return false }
            state.latencies.record(UInt64(clamping: max(0, now - message.timestamp)))
            state.counted += 1
            guard times == 1 else { return false }
            let reached = state.reached[message.msiKey, default: 0] + 1
            state.reached[message.msiKey] = reached == steady ? nil : reached
            return reached == steady
        }
    }

    /// FCM brings a message to a phone, whose app may have it already.
    ///
    /// - Returns: Whether FCM has now brought it to every steady phone, each of which had it already.
    func notePushed(_ msiKey: String, on phone: Int, isSteady: Bool) -> Bool {
        state.withLock { state in
            guard isSteady, state.received[phone][msiKey] != nil,
                state.pushedLater[msiKey, default: []].insert(phone).inserted
            else { return false }
            return state.pushedLater[msiKey]?.count == steady
        }
    }

    /// A phone's app has removed an Alert that was recalled.
    func noteRecalled(_ message: StoredMessage, on phone: Int) {
        state.withLock { _ = $0.recalled[phone].insert(message.msiKey) }
    }

    func hasRecalled(_ msiKey: String, on phone: Int) -> Bool { state.withLock { $0.recalled[phone].contains(msiKey) } }

    /// From how many phones each recalled Alert has gone, by `msi_key`.
    var recalled: [String: Int] {
        state.withLock { state in state.recalled.joined().reduce(into: [:]) { $0[$1, default: 0] += 1 } }
    }

    func isReady(at now: Int64) {
        state.withLock { $0.ready = now }
    }

    /// How often a phone has received each message.
    func received(on phone: Int) -> [String: Int] { state.withLock { $0.received[phone] } }

    /// On how many phones each message is that was received, by `msi_key`.
    var phones: [String: Int] {
        state.withLock { state in
            state.received.reduce(into: [:]) { phones, received in
                for key in received.keys { phones[key, default: 0] += 1 }
            }
        }
    }

    /// A percentile of the latencies in milliseconds; `nil` without any.
    func latency(_ percentile: Double) -> Double? {
        state.withLock { $0.counted == 0 ? nil : Double($0.latencies.valueAtPercentile(percentile)) }
    }
}
