import Bus
import Archive
import Schemas
import ServiceKit
import Synchronization
import Base

/// Sends messages and pushes to FCM and to the push services of browsers.
protocol Relay: Sendable {
    /// Relays a message's components to FCM.
    ///
    /// - Parameter end: The end of the message's lease. Nothing may be sent after it.
    /// - Returns: One outcome for each requested component.
    /// - Throws: ``CommandFailure`` if there is no answer, or if the whole command was refused.
    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome]

    /// Hands a message to the Web Push service, which logs its pushes.
    ///
    /// - Parameter end: As for FCM. A repeated command makes no further pushes.
    /// - Returns: The number of subscriptions that get a push.
    /// - Throws: ``CommandFailure`` if there is no answer, or if the command was refused.
    func fanOut(_ command: FanOutMessage, by end: UnixMilliseconds) async throws(CommandFailure) -> Int

    /// Relays a push by its transport.
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

/// The FCM relays and the Web Push service on the bus.
struct BusRelay: Relay {
    private static let withdrawTimeout = Duration.seconds(1)

    /// The FCM relays; `nil` if FCM is switched off.
    let fcm: CommandClient?
    /// A client for each of them: any of them may have the message.
    let all: InstanceClients?
    /// The Web Push service; `nil` if Web Push is switched off.
    let webpush: CommandClient?

    func relay(
        _ command: RelayMessage, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [ComponentOutcome] {
        try await client(for: .fcm).request(command, timeout: timeout(until: end)).components
    }

    func fanOut(_ command: FanOutMessage, by end: UnixMilliseconds) async throws(CommandFailure) -> Int {
        try await client(for: .webpush).request(command, timeout: timeout(until: end)).subscriptions
    }

    func relay(
        _ command: RelayPush, by end: UnixMilliseconds
    ) async throws(CommandFailure) -> [Result<String, DeliveryError>] {
        try await client(for: command.transport ?? .fcm).request(command, timeout: timeout(until: end)).results.map(\.result)
    }

    /// - Throws: ``CommandFailure`` with status `unavailable` if the transport is switched off. The outbox hands it nothing.
    private func client(for transport: PushTransport) throws(CommandFailure) -> CommandClient {
        guard let client = transport == .webpush ? webpush : fcm else {
            throw CommandFailure(.unavailable, "\(transport.rawValue) is switched off")
        }
        return client
    }

    func withdraw(_ key: ObjectID) async -> Bool {
        await withTaskGroup(of: Int.self) { group in
            for relay in all?.all ?? [] {
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
            record.components.firstIndex { $0.component.fcm == outcome.component }.map {
                PartResult(part: $0, result: outcome.result)
            }
        }
    }
}

extension Relay {
    /// Relays parts of a message or a push.
    ///
    /// - Parameters:
    ///   - parts: Their positions in the record. All have the same transport.
    ///   - addresses: Of a push to persons.
    ///   - end: The end of the lease. Nothing may be sent after it.
    /// - Throws: ``CommandFailure`` when there is no answer, or when the command was refused as a whole.
    func relay(
        _ parts: [Int], of item: OutboxItem, to addresses: PersonAddresses? = nil, by transport: PushTransport,
        until end: UnixMilliseconds
    ) async throws(CommandFailure) -> [PartResult] {
        switch item {
        case .message(let message) where transport == .webpush:
            let command = FanOutMessage(
                msiKey: message.msiKey, timestamp: message.timestamp, content: message.content, expires: message.expires)
            let subscriptions = try await fanOut(command, by: end)
            return parts.map { PartResult(part: $0, result: .success(String(subscriptions))) }
        case .message(let message):
            let command = RelayMessage(
                msiKey: message.msiKey, timestamp: message.timestamp, content: message.content, expires: message.expires,
                components: parts.compactMap { message.relay.components[$0].component.fcm })
            return try await relay(command, by: end).results(for: message.relay)
        case .push(let push):
            if let addresses { return try await relay(addresses.commands(for: parts, of: push, by: transport), by: end) }
            let command = RelayPush(
                pushID: push.id, transport: push.transport, recipients: parts.map { push.relay.recipients[$0].recipient },
                message: push.message, expires: push.expires, project: push.project)
            return zip(parts, try await relay(command, by: end)).map(PartResult.init)
        }
    }
}

/// The message log's own errors, in addition to FCM's and the relay's.
extension DeliveryError {
    /// The transport is switched off.
    static func switchedOff(_ transport: PushTransport) -> DeliveryError {
        switch transport {
        case .fcm: DeliveryError(.switchedOff, "FCM is switched off (\(Setting.fcm.declaration.name))")
        case .webpush: DeliveryError(.switchedOff, "Web Push is switched off (\(Setting.webPushContact.declaration.name))")
        }
    }

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

    /// Why a command was not answered, or was refused as a whole.
    init(unanswered failure: CommandFailure) {
        let unanswered = failure.isOutcomeUnknown ? DeliveryError(.relayNoAnswer, failure.message) : .relayUnreachable(failure)
        self = DeliveryError(refusal: failure) ?? unanswered
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

/// Whether the relays of a transport answer, and whether they reach what is behind them.
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

    /// The name of the part, such as `relay`.
    private let part: String
    /// What a relay is called in sentences.
    private let title: String
    /// One client for each relay: a client of all relays would ask only one of them.
    private let relays: InstanceClients
    private let last = Mutex<Probe?>(nil)

    init(_ transport: PushTransport, relays: InstanceClients) {
        part = transport == .webpush ? "webpush" : "relay"
        title = transport == .webpush ? "Web Push service" : "relay"
        self.relays = relays
    }

    /// The part. It is `ok` if one relay is `ok`, since messages go out through that one. Several relays are its parts, by their names.
    func parts() async -> [String: PartHealth] {
        let states = await probe().value
        guard states.count > 1 else { return [part: states.first?.1 ?? absent] }
        let failing = states.count { $1.status != .ok }
        let message = failing == 0 ? nil : "\(failing) of \(states.count) \(title)s cannot be used"
        let status = failing < states.count ? .ok : states[0].1.status
        return [part: PartHealth(status, message, parts: Dictionary(states) { first, _ in first })]
    }

    private func probe() -> Task<[(String, PartHealth)], Never> {
        last.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last.began < Self.validity { return last.states }
            let relays = relays.all
            let states = Task {
                await withTaskGroup(of: (String, PartHealth).self) { group in
                    for relay in relays { group.addTask { (relay.name, await self.state(of: relay.client)) } }
                    return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
                }
            }
            last = Probe(began: now, states: states)
            return states
        }
    }

    private var absent: PartHealth { PartHealth(.unavailable, "no \(title) is there, or it is stopping") }

    private func state(of client: CommandClient) async -> PartHealth {
        do {
            return PartHealth(try await client.request(CheckHealth(), timeout: Self.timeout))
        } catch {
            // The failure's own message is not used: it names sockets and folders.
            return switch error.status {
            case .unavailable: absent
            case .deadlineExceeded: PartHealth(.deadlineExceeded, "the \(title) does not answer")
            case .overloaded: PartHealth(.overloaded, "the \(title) has too much to do")
            default: PartHealth(error.status, "the \(title) cannot say how it is")
            }
        }
    }
}

extension [RelayHealth] {
    /// A part for each transport that is switched on.
    func parts() async -> [String: PartHealth] {
        await withTaskGroup(of: [String: PartHealth].self) { group in
            for relays in self { group.addTask { await relays.parts() } }
            return await group.reduce(into: [:]) { $0.merge($1) { $1 } }
        }
    }
}
