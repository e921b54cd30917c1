import MobileApp
import Synchronization

/// Which broadcasts the phones of a fleet have taken over, counted outside of their apps.
final class BroadcastLedger: Sendable {
    private struct Version: Hashable {
        let id: Int64
        let version: Int64
    }

    private struct State {
        /// By phone: the versions that it has taken over, and how often.
        var taken: [[Version: Int]]
        /// On how many steady phones a version is that has not reached all of them.
        var reached: [Version: Int] = [:]
    }

    private let state: Mutex<State>
    private let steady: Int

    /// - Parameter steady: How many of the phones have what they should have at any time.
    init(count: Int, steady: Int) {
        self.steady = steady
        state = Mutex(State(taken: Array(repeating: [:], count: count)))
    }

    /// A phone's app has taken over a broadcast, or removed one.
    ///
    /// - Returns: Whether the broadcast is now on every steady phone.
    func note(_ arrival: BroadcastArrival, on phone: Int, isSteady: Bool) -> Bool {
        guard !arrival.isWithdrawn else { return false }
        let version = Version(id: arrival.id, version: arrival.version)
        return state.withLock { state in
            let times = state.taken[phone][version, default: 0] + 1
            state.taken[phone][version] = times
            guard isSteady, times == 1 else { return false }
            let reached = state.reached[version, default: 0] + 1
            state.reached[version] = reached == steady ? nil : reached
            return reached == steady
        }
    }

    /// Whether no phone has taken over any.
    var isEmpty: Bool { state.withLock { $0.taken.allSatisfy(\.isEmpty) } }

    /// How often a phone has taken over a version once more.
    var doubled: Int { state.withLock { $0.taken.reduce(0) { $1.values.reduce($0) { $0 + $1 - 1 } } } }
}
