import Bus
import Schemas
import ServiceKit
import Base

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

        /// The status, and what is not well: `degraded (message-log relay: unavailable: no relay is there)`.
        var summary: String {
            status.rawValue + (problems.isEmpty ? "" : " (\(problems.joined(separator: "; ")))")
        }

        /// The services that are away, and the parts that are not well. Of a part within another one only the inner one is named.
        var problems: [String] {
            let services = services.filter { $0.value != .ok }.map { "\($0.key): \($0.value.rawValue)" }
            let parts = parts.flatMap { service, parts in
                parts.filter { !$0.value.isWell }.flatMap { Self.problems(of: $0.value, at: "\(service) \($0.key)") }
            }
            return (services + parts).sorted()
        }

        private static func problems(of part: PartHealth, at path: String) -> [String] {
            let inner = part.parts.filter { !$0.value.isWell }
            guard inner.isEmpty else { return inner.flatMap { problems(of: $0.value, at: "\(path) \($0.key)") } }
            let message = part.message.map { ": \($0.onOneLine(maxLength: 200))" } ?? ""
            return ["\(path): \(part.status.rawValue)\(message)"]
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
        /// The messages that ended in the last minute.
        let endedLastMinute: StateCounts
        /// Whether the token may not see all messages, so that there may be more.
        let isLimited: Bool

        private enum CodingKeys: String, CodingKey {
            case waiting, scheduled, held
            case isLimited = "limited_to_token"
            case oldestWaiting = "oldest_waiting_ms"
            case acceptedLastMinute = "accepted_last_minute"
            case endedLastMinute = "ended_last_minute"
        }

        /// - Parameters:
        ///   - logged: The statistics by the time when messages were logged, with one span, the last minute.
        ///   - ended: The same by the time when they ended.
        ///   - isLimited: Whether the token may not see all messages.
        init(logged: Statistics, ended: Statistics, isLimited: Bool, now: UnixMilliseconds) {
            self.isLimited = isLimited
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

    /// This user's token.
    enum Token: Sendable {
        case usable
        /// There is none, or its file cannot be read or holds something else.
        case missing
        /// The gateway refuses it.
        case refused
    }

    /// What the first line and the exit status of `msi status` say.
    enum Status: String, Encodable, Sendable {
        case ok, degraded, unavailable
        /// The services are well as far as that is known.
        case unknown
    }

    let status: Status
    /// Why the status is not `ok`, one phrase each.
    let problems: [String]
    let time: UnixMilliseconds
    let gateway: String
    let health: Health
    let places: [Place]
    let canary: CanaryState
    let webPush: WebPushState
    let study: StudyState
    /// `nil` if the token has no right to read messages, or if the message log does not answer.
    let messages: Messages?
    /// Why ``messages`` is missing.
    let messagesFailure: GatewayFailure?
    let token: Token

    private enum CodingKeys: String, CodingKey {
        case status, problems, time, gateway, health, messages, places, canary, study
        case hasCanary = "has_canary"
        case canaryProblem = "canary_problem"
        case webPush = "web_push"
        case webPushProblem = "web_push_problem"
        case studyProblem = "study_problem"
        case messagesProblem = "messages_problem"
    }

    /// - Parameters:
    ///   - places: Where the services are.
    ///   - messages: The messages, or why they are not known.
    init(
        gateway: String, health: Health, places: [Place], canary: CanaryState, messages: Result<Messages, GatewayFailure>,
        token: Token, webPush: WebPushState = .off, study: StudyState = .absent, at time: UnixMilliseconds
    ) {
        (self.gateway, self.health, self.places, self.canary, self.time) = (gateway, health, places, canary, time)
        self.webPush = webPush
        self.study = study
        self.token = token
        switch messages {
        case .success(let found): (self.messages, messagesFailure) = (found, nil)
        case .failure(let failure): (self.messages, messagesFailure) = (nil, failure)
        }
        let silence = canary.silence(at: time)
        let unknown = Self.unknown(health, canary, messagesFailure, token)
        status =
            switch health.status {
            case .unavailable: .unavailable
            case .degraded: .degraded
            case .ok: silence != nil ? .degraded : unknown.isEmpty ? .ok : .unknown
            }
        problems = health.problems + [silence].compactMap(\.self) + unknown
    }

    /// What is not known, and why, in one phrase each. A token without the right to read messages is not mentioned: the operator chose it.
    private static func unknown(
        _ health: Health, _ canary: CanaryState, _ messagesFailure: GatewayFailure?, _ token: Token
    ) -> [String] {
        switch (token, messagesFailure) {
        case (.refused, _): return ["the token is refused"]
        case (.missing, let failure?) where failure.kind == .notAllowed: return [failure.description]
        default: break
        }
        var reasons: [String] = []
        // If the message log is not well, it is the reason, and the health names it.
        if let failure = messagesFailure, failure.kind != .notAllowed, health.services[ServiceEntry.messageLog.name] == .ok {
            reasons.append("messages: not known: \(failure)")
        }
        if let problem = canary.problem { reasons.append("canary: not known: \(problem)") }
        return reasons
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(status, forKey: .status)
        try fields.encode(problems, forKey: .problems)
        try fields.encode(time, forKey: .time)
        try fields.encode(gateway, forKey: .gateway)
        try fields.encode(health, forKey: .health)
        try fields.encode(places, forKey: .places)
        try fields.encodeIfPresent(canary.messages, forKey: .canary)
        try fields.encode(canary.isSetUp, forKey: .hasCanary)
        try fields.encodeIfPresent(canary.problem, forKey: .canaryProblem)
        try fields.encodeIfPresent(webPush.counts, forKey: .webPush)
        try fields.encodeIfPresent(webPush.problem, forKey: .webPushProblem)
        try fields.encodeIfPresent(study.counts, forKey: .study)
        try fields.encodeIfPresent(study.problem, forKey: .studyProblem)
        try fields.encodeIfPresent(messages, forKey: .messages)
        try fields.encodeIfPresent(messagesFailure?.description, forKey: .messagesProblem)
    }
}
