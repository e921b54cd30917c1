import Bus
import Archive
import Schemas
import ServiceKit
import Synchronization
import Base

/// Sends messages and pushes to FCM.
protocol Relay: Sendable {
    /// Relays a message's components.
    ///
    /// - Parameter end: The end of the message's lease. Nothing may be sent after it.
    /// - Returns: One outcome for each requested component.
    /// - Throws: ``CommandFailure`` if there is no answer, or if the whole command was refused.
    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome]

    /// Relays a push.
    ///
    /// - Parameter end: As for messages.
    /// - Returns: One result for each recipient, in their order.
    /// - Throws: As for messages.
    func relay(
        _ command: RelayPush, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [Result<String, DeliveryError>]

    /// Ends the waits of a message or a push for FCM's quota, so that its commands are answered at once.
    ///
    /// - Returns: Whether it has waited.
    func withdraw(_ key: ObjectID) async -> Bool
}

/// The FCM relays on the bus.
struct BusRelay: Relay {
    private static let withdrawTimeout = Duration.seconds(1)

    let client: CommandClient
    /// A client for each relay: any of them may have the message.
    let all: InstanceClients

    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome] {
        try await client.request(command, timeout: timeout(until: end)).components
    }

    func relay(
        _ command: RelayPush, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [Result<String, DeliveryError>] {
        try await client.request(command, timeout: timeout(until: end)).results.map(\.result)
    }

    func withdraw(_ key: ObjectID) async -> Bool {
        await withTaskGroup(of: Int.self) { group in
            for relay in all.all {
                group.addTask {
                    // Nothing can be recalled from a relay that does not answer.
                    let reply = try? await relay.client.request(WithdrawSends(key), timeout: Self.withdrawTimeout)
                    return reply?.withdrawn ?? 0
                }
            }
            return await group.reduce(0, +) > 0
        }
    }

    /// The relay gets the timeout, and does not begin the command after it.
    private func timeout(until end: UnixMilliseconds) -> Duration {
        DeliveryTimes.relayTimeout(within: Duration(end - .now))
    }
}

/// The outcome of one part of a message or a push.
struct PartResult: Hashable, Sendable {
    /// The part's position in the record.
    let part: Int
    /// FCM's name for it, or why it was not accepted.
    let result: Result<String, DeliveryError>

    /// Whether FCM has accepted it or never will.
    var isFinal: Bool {
        switch result {
        case .success: true
        case .failure(let error): error.class != .retryable
        }
    }
}

extension [ComponentOutcome] {
    /// The outcomes by the components' positions in a record. Components that the record does not have are left out.
    func results(for record: RelayRecord) -> [PartResult] {
        compactMap { outcome in
            record.components.firstIndex { $0.component == outcome.component }.map {
                PartResult(part: $0, result: outcome.result)
            }
        }
    }
}

extension Relay {
    /// Relays parts of a message or a push.
    ///
    /// - Parameters:
    ///   - parts: Their positions in the record.
    ///   - end: The end of the lease. Nothing may be sent after it.
    /// - Throws: ``CommandFailure`` when there is no answer, or when the command was refused as a whole.
    func relay(
        _ parts: [Int], of item: OutboxItem, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [PartResult] {
        switch item {
        case .message(let message):
            let command = RelayMessage(
                msiKey: message.msiKey, timestamp: message.timestamp, content: message.content, expires: message.expires,
                components: parts.map { message.relay.components[$0].component })
            return try await relay(command, by: end).results(for: message.relay)
        case .push(let push):
            let command = RelayPush(
                pushID: push.id, transport: push.transport, recipients: parts.map { push.relay.recipients[$0].recipient },
                message: push.message, expires: push.expires, project: push.project)
            return zip(parts, try await relay(command, by: end)).map(PartResult.init)
        }
    }
}

/// The message log's own errors, in addition to FCM's and the relay's.
extension DeliveryError {
    /// The deadline passed before a relay was asked.
    static let neverRelayed = DeliveryError(.expired, "the deadline passed before the message was handed to a relay")

    /// The deadline passed before the message was approved.
    static let neverApproved = DeliveryError(.expired, "the deadline passed before the message was approved")

    /// The deadline passed before it was released after a restore.
    static let neverReleased = DeliveryError(.expired, "the deadline passed before it was released after a restore from a backup")

    /// No relay takes messages.
    ///
    /// - Parameter failure: The failure of the attempt. FCM does not have the message.
    static func relayUnreachable(_ failure: CommandFailure) -> DeliveryError {
        // A relay that cannot reach FCM puts the component's error into its message.
        let prefix = RelayErrorCode.circuitOpen.rawValue + ": "
        if failure.status == .unavailable, failure.message.hasPrefix(prefix) {
            return DeliveryError(.circuitOpen, String(failure.message.dropFirst(prefix.count)))
        }
        return DeliveryError(failure.status == .overloaded ? .relayOverloaded : .relayUnreachable, failure.message)
    }

    /// A relay has refused a command as a whole.
    ///
    /// - Returns: `nil` if no relay has processed it.
    init?(refusal failure: CommandFailure) {
        let code: RelayErrorCode? =
            switch failure.status {
            case .overloaded, .unavailable, .storageFull, .deadlineExceeded, .ok: nil
            case .internal: .relayInternal
            case .invalid: failure.isUnknownCommand ? .relayTooOld : .relayInvalid
            case .unauthenticated: .relayUnauthenticated
            case .forbidden: .relayForbidden
            case .notFound: .relayNotFound
            case .conflict: .relayConflict
            }
        guard let code else { return nil }
        self.init(code, failure.message)
    }
}

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
