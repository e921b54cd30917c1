import CommandBus
import Schemas
import Synchronization

/// Whether the relays answer, and whether they reach FCM.
///
/// Each relay is asked at most once a second, and has a second for its answer.
final class RelayHealth: Sendable {
    private struct Probe: Sendable {
        let began: ContinuousClock.Instant
        /// With the names of the relays.
        let states: Task<[(String, PartHealth)], Never>
    }

    private static let timeout = Duration.seconds(1)
    /// How long an answer is reused.
    private static let validity = Duration.seconds(1)

    /// One client for each relay: a client of all relays would ask only one of them.
    private let relays: InstanceClients
    private let last = Mutex<Probe?>(nil)

    init(relays: InstanceClients) {
        self.relays = relays
    }

    /// The part `relay`. It is `ok` if one relay is `ok`, since messages go out through that one. Several relays are its parts, by
    /// their names.
    func parts() async -> [String: PartHealth] {
        let states = await probe().value
        guard states.count > 1 else { return ["relay": states.first?.1 ?? Self.absent] }
        let failing = states.count { $1.status != .ok }
        let message = failing == 0 ? nil : "\(failing) of \(states.count) relays cannot be used"
        let status = failing < states.count ? .ok : states[0].1.status
        return ["relay": PartHealth(status, message, parts: Dictionary(states) { first, _ in first })]
    }

    private func probe() -> Task<[(String, PartHealth)], Never> {
        last.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last.began < Self.validity { return last.states }
            let relays = relays.all
            let states = Task {
                await withTaskGroup(of: (String, PartHealth).self) { group in
                    for relay in relays { group.addTask { (relay.name, await Self.state(of: relay.client)) } }
                    return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
                }
            }
            last = Probe(began: now, states: states)
            return states
        }
    }

    private static var absent: PartHealth { PartHealth(.unavailable, "no relay is there, or it is stopping") }

    private static func state(of client: CommandClient) async -> PartHealth {
        do {
            return PartHealth(try await client.request(CheckHealth(), timeout: timeout))
        } catch {
            // The failure's own message is not used: it names sockets and folders.
            return switch error.status {
            case .unavailable: absent
            case .deadlineExceeded: PartHealth(.deadlineExceeded, "the relay does not answer")
            case .overloaded: PartHealth(.overloaded, "the relay has too much to do")
            default: PartHealth(error.status, "the relay cannot say how it is")
            }
        }
    }
}
