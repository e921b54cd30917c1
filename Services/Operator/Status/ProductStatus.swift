import CommandBus
import Schemas
import ServiceKit
import Time

/// What `msi status` shows: the answers of the gateway, put together.
struct ProductStatus: Encodable, Sendable {
    /// `GET /health`.
    struct Health: Codable, Sendable {
        enum Status: String, Codable, Sendable {
            case ok, degraded, unavailable
        }

        let status: Status
        let services: [String: ReplyStatus]
        let versions: [String: String]
        let parts: [String: [String: PartHealth]]
        let copies: [String: UnixMilliseconds]

        /// The status, and what is not well: `degraded (message-log relay: unavailable)`.
        var summary: String {
            let services = services.filter { $0.value != .ok }.map { "\($0.key): \($0.value.rawValue)" }
            let parts = parts.flatMap { service, parts in
                parts.filter { !$0.value.isWell }.map { "\(service) \($0.key): \($0.value.status.rawValue)" }
            }
            let trouble = (services + parts).sorted()
            return status.rawValue + (trouble.isEmpty ? "" : " (\(trouble.joined(separator: ", ")))")
        }
    }

    /// A part of `GET /statistics`.
    struct Statistics: Decodable, Sendable {
        struct Waiting: Decodable, Sendable {
            let timestamp: UnixMilliseconds
        }

        let states: StateCounts
        let scheduled: Int
        let oldestWaiting: Waiting?
        let buckets: [MessageStatistics.Bucket]

        private enum CodingKeys: String, CodingKey {
            case states, scheduled, buckets
            case oldestWaiting = "oldest_waiting"
        }
    }

    /// The messages of the outbox, and those of the last minute.
    struct Messages: Encodable, Hashable, Sendable {
        /// Pending or retrying, and due.
        let waiting: Int
        let scheduled: Int
        let held: Int
        /// The milliseconds since the oldest waiting one was accepted.
        let oldestWaiting: Int64?
        let acceptedLastMinute: Int
        /// Those that ended in the last minute.
        let endedLastMinute: StateCounts

        private enum CodingKeys: String, CodingKey {
            case waiting, scheduled, held
            case oldestWaiting = "oldest_waiting_ms"
            case acceptedLastMinute = "accepted_last_minute"
            case endedLastMinute = "ended_last_minute"
        }

        /// - Parameters:
        ///   - logged: The statistics by the time when messages were logged, with one span, the last minute.
        ///   - ended: The same by the time when they ended.
        init(logged: Statistics, ended: Statistics, now: UnixMilliseconds) {
            scheduled = logged.scheduled
            waiting = logged.states[.pending] + logged.states[.retrying] - logged.scheduled
            held = logged.states[.held]
            oldestWaiting = logged.oldestWaiting.map { max(0, now.rawValue - $0.timestamp.rawValue) }
            acceptedLastMinute =
                logged.buckets.first.map { bucket in
                    RelayState.allCases.reduce(0) { $0 + bucket.states[$1] }
                } ?? 0
            endedLastMinute = ended.buckets.first?.states ?? StateCounts()
        }
    }

    /// A service that the gateway asks for its health, and where this machine's settings expect it: each of its instances.
    struct Place: Encodable, Sendable {
        let name: String
        let endpoints: [String]
    }

    /// What the archive says about the messages of the canary.
    struct Canary: Encodable, Hashable, Sendable {
        let key: ObjectID
        /// When the last one was posted.
        let posted: UnixMilliseconds
        let state: RelayState
        /// The milliseconds from the post until FCM had accepted the last one; `nil` before.
        let relayedAfter: Int64?
        /// When the last one was posted that a phone has reported; `nil` if none has.
        let lastReceived: UnixMilliseconds?
        /// How many of the ``recent`` messages a phone has reported.
        let received: Int
        let recent: Int

        private enum CodingKeys: String, CodingKey {
            case posted, state, received, recent
            case key = "msi_key"
            case relayedAfter = "relayed_after_ms"
            case lastReceived = "last_received"
        }

        /// - Parameter messages: The newest first.
        /// - Returns: `nil` without a message.
        init?(_ messages: [Message]) {
            guard let last = messages.first else { return nil }
            (key, posted, state) = (last.msiKey, last.timestamp, last.relay.state)
            let accepted = last.relay.components.compactMap(\.acceptedAt).max() ?? last.relay.accepted
            relayedAfter = accepted.map { max(0, ($0 - last.timestamp).rawValue) }
            let reported = messages.filter { ($0.receipts?.received ?? 0) > 0 }
            lastReceived = reported.first?.timestamp
            (received, recent) = (reported.count, messages.count)
        }
    }

    let gateway: String
    let health: Health
    let places: [Place]
    /// `nil` if the settings name no canary, if it has sent nothing that is still in the archive, or if that is not known.
    let canary: Canary?
    /// Whether the settings name a canary.
    let hasCanary: Bool
    /// Why it is not known how the canary fares.
    let canaryProblem: String?
    /// `nil` without the right to read messages, or while the message log is away.
    let messages: Messages?
    /// Why ``messages`` is missing.
    let messagesProblem: String?

    private enum CodingKeys: String, CodingKey {
        case gateway, health, messages, places, canary
        case hasCanary = "has_canary"
        case canaryProblem = "canary_problem"
        case messagesProblem = "messages_problem"
    }
}

extension ProductStatus {
    /// Asks the gateway.
    ///
    /// - Throws: ``GatewayFailure`` if it does not answer.
    static func read(from gateway: GatewayClient, _ settings: SettingValues) async throws -> ProductStatus {
        let health: Health = try await gateway.getOnce("/health", alsoAt: [503])
        var messages: Messages?
        var problem: String?
        do {
            let now = UnixMilliseconds.now
            let span = "edges=\(now.rawValue - 60_000),\(now.rawValue)"
            let logged: Statistics = try await gateway.getOnce("/statistics?\(span)")
            let ended: Statistics = try await gateway.getOnce("/statistics?by=ended&\(span)")
            messages = Messages(logged: logged, ended: ended, now: now)
        } catch let failure as GatewayFailure {
            problem = "\(failure)"
        }
        var canary: (hasCanary: Bool, state: Canary?, problem: String?) = (false, nil, nil)
        do {
            if let topic = try settings.optional(.canaryTopic) {
                canary.hasCanary = true
                canary.state = try await self.canary(topic, account: settings.value(.canaryAccount), gateway)
            }
        } catch {
            // A wrong setting of the canary does not hide the rest.
            canary = (true, nil, "\(error)")
        }
        return ProductStatus(
            gateway: gateway.url, health: health, places: try places(settings).filter { health.services[$0.name] != nil },
            canary: canary.state, hasCanary: canary.hasCanary, canaryProblem: canary.problem, messages: messages,
            messagesProblem: problem)
    }

    private struct Page: Decodable {
        let messages: [Message]
    }

    /// - Parameter account: The canary's. Other messages to its subject are not its own.
    private static func canary(_ topic: TopicKey, account: String, _ gateway: GatewayClient) async throws -> Canary? {
        let page: Page = try await gateway.getOnce("/message?limit=10&subject=\(topic.subject)")
        return Canary(page.messages.filter { $0.sender == account })
    }

    private static func places(_ settings: SettingValues) throws -> [Place] {
        try ServiceEntry.all.filter { !$0.sockets.isEmpty }.map { service in
            let endpoints = try ClientEndpoints(settings.value(.endpoints(of: service)))
            return Place(name: service.name, endpoints: endpoints.current)
        }
    }
}
