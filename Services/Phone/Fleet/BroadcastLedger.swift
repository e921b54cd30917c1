import Logging
import MobileApp
import Synchronization

/// The broadcasts that the phones of a fleet have stored, counted outside their apps.
final class BroadcastLedger: Sendable {
    private struct Version: Hashable {
        let id: Int64
        let version: Int64
    }

    private struct State {
        /// By phone: the versions that it has stored, and how often.
        var taken: [[Version: Int]]
        /// On how many steady phones each version is, until it is on all of them.
        var reached: [Version: Int] = [:]
    }

    private let state: Mutex<State>
    private let steady: Int

    /// - Parameters:
    ///   - count: The number of phones.
    ///   - steady: How many of them stay on during the run.
    init(count: Int, steady: Int) {
        self.steady = steady
        state = Mutex(State(taken: Array(repeating: [:], count: count)))
    }

    /// A phone's app has stored a broadcast, or removed one.
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

    /// Whether no phone has stored any.
    var isEmpty: Bool { state.withLock { $0.taken.allSatisfy(\.isEmpty) } }

    /// How often a phone has stored a version that it already had.
    var doubled: Int { state.withLock { $0.taken.reduce(0) { $1.values.reduce($0) { $0 + $1 - 1 } } } }
}

extension Fleet {
    /// Logs which broadcasts the phones show, and for which phones features are on, so that others can count.
    func logBroadcasts() async throws {
        var shown: [Int64: Int] = [:]
        for phone in phones {
            for card in try await phone.app.broadcasts.cards(language: "en") where card.origin == .hub {
                shown[card.number, default: 0] += 1
            }
        }
        for (id, count) in shown.sorted(by: { $0.key < $1.key }) {
            logger.info("shown", metadata: ["broadcast": "\(id)", "phones": "\(count)"])
        }
        logger.info("taken over twice", metadata: ["broadcasts": "\(broadcastLedger.doubled)"])
        try await logFeatures("feature", from: 0)
    }

    /// Logs the features that are on, with the numbers of the phones.
    ///
    /// - Parameter first: The phones before this one are left out.
    func logFeatures(_ message: Logger.Message, from first: Int) async throws {
        var on: [String: [Int]] = [:]
        for (index, phone) in phones.enumerated().dropFirst(first) {
            for feature in try await phone.app.broadcasts.features() where feature.isOn {
                on[feature.name, default: []].append(index)
            }
        }
        for (name, phones) in on.sorted(by: { $0.key < $1.key }) {
            let list = phones.map(String.init).joined(separator: ",")
            logger.info(message, metadata: ["feature": "\(name)", "phones": "\(list)"])
        }
    }
}
