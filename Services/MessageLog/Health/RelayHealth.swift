import CommandBus
import Logging
import Schemas
import Synchronization

/// Whether the relays answer, and whether they reach FCM.
///
/// Each relay is asked at most once a second, and has a second for its answer.
final class RelayHealth: Sendable {
    private struct Probe: Sendable {
        let began: ContinuousClock.Instant
        let states: Task<[PartHealth], Never>
    }

    private static let timeout = Duration.seconds(1)
    /// How long an answer is reused.
    private static let validity = Duration.seconds(1)

    /// One client for each relay: a client of all relays would ask only one of them.
    private let clients: [CommandClient]
    private let last = Mutex<Probe?>(nil)

    init(bus: Bus, endpoints: [String], logger: Logger) throws(BusError) {
        var clients: [CommandClient] = []
        for endpoint in endpoints { clients.append(try CommandClient(bus: bus, endpoints: [endpoint], logger: logger)) }
        self.clients = clients
    }

    /// The part `relay`. It is `ok` if one relay is `ok`, since messages go out through that one. The parts of several relays are
    /// numbered in the order of their endpoints.
    func parts() async -> [String: PartHealth] {
        let states = await probe().value
        guard states.count > 1 else { return ["relay": states[0]] }
        let numbered = Dictionary(uniqueKeysWithValues: states.enumerated().map { ("\($0 + 1)", $1) })
        let failing = states.count { $0.status != .ok }
        let message = failing == 0 ? nil : "\(failing) of \(states.count) relays cannot be used"
        let status = failing < states.count ? .ok : states[0].status
        return ["relay": PartHealth(status, message, parts: numbered)]
    }

    private func probe() -> Task<[PartHealth], Never> {
        last.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last.began < Self.validity { return last.states }
            let clients = clients
            let states = Task {
                await withTaskGroup(of: (Int, PartHealth).self) { group in
                    for (index, client) in clients.enumerated() { group.addTask { (index, await Self.state(of: client)) } }
                    return await group.reduce(into: clients.map { _ in PartHealth.ok }) { $0[$1.0] = $1.1 }
                }
            }
            last = Probe(began: now, states: states)
            return states
        }
    }

    private static func state(of client: CommandClient) async -> PartHealth {
        do {
            return PartHealth(try await client.request(CheckHealth(), timeout: timeout))
        } catch {
            // The failure's own message is not used: it names sockets and folders.
            return switch error.status {
            case .unavailable: PartHealth(.unavailable, "no relay is there, or it is stopping")
            case .deadlineExceeded: PartHealth(.deadlineExceeded, "the relay does not answer")
            case .overloaded: PartHealth(.overloaded, "the relay has too much to do")
            default: PartHealth(error.status, "the relay cannot say how it is")
            }
        }
    }
}
