import CoreMetrics
import Instruments
import Schemas
import Synchronization

/// A Firebase project with everything that its messages share. Projects share nothing. So a project whose key is refused, whose
/// quota is used up or whose FCM hangs does not slow down the others.
final class Project: Sendable {
    /// The maximum number of pending commands; further ones get `overloaded`. The connections to FCM carry about this many sends.
    static let maxInFlight = 1_024

    let id: String
    let sender: any FCMSender
    /// `nil` if the project uses the legacy API.
    let pushSender: (any PushSender)?
    /// `nil` if the project uses the legacy API.
    private let topics: TopicManager?
    private let transport: any HTTPTransport
    let tokens: AccessTokenSource?
    let messageGate: AdmissionControl
    private let topicGate: AdmissionControl
    /// Counts its messages and pushes.
    let counts: SendCounts
    private let commandsInFlight = Atomic<Int>(0)
    /// Components that are being sent, or that FCM has recently accepted.
    let history = Mutex(SendHistory<SharedOutcome>(maxRemembered: 10_000))
    /// The same for the recipients of pushes. It is separate, because in a common history ten pushes to 1,000 phones would displace
    /// all messages.
    let pushHistory = Mutex(SendHistory<SharedOutcome>(maxRemembered: 100_000))

    /// - Parameters:
    ///   - pacer: The pacer of its messages.
    ///   - transport: Closed with the project.
    init(
        id: String, sender: any FCMSender, pushSender: (any PushSender)?, topics: TopicManager?, tokens: AccessTokenSource?,
        transport: any HTTPTransport, pacer: Pacer
    ) {
        self.id = id
        self.sender = sender
        self.pushSender = pushSender
        self.topics = topics
        self.tokens = tokens
        self.transport = transport
        counts = SendCounts(project: id)
        messageGate = AdmissionControl(pacer: pacer, transport: transport, counts: counts)
        topicGate = AdmissionControl(pacer: Pacer(rate: TopicManager.changesPerSecond, ramp: .zero), transport: transport)
    }

    /// Requests an access token, so that the first message need not wait for it. If Google refuses the key, the log says so
    /// before the first message.
    func prepare() {
        tokens?.prepare()
    }

    /// Whether messages reach FCM; otherwise the reason and the start of the outage.
    var health: PartHealth {
        if let reason = messageGate.breaker.openReason {
            let since = messageGate.breaker.outage.map { ", since \($0.begin)" } ?? ""
            return PartHealth(.unavailable, "CIRCUIT_OPEN: \(reason)\(since)")
        }
        guard let outage = tokens?.outage ?? messageGate.breaker.outage else { return .ok }
        return PartHealth(.unavailable, outage.description)
    }

    /// Why messages may not go out now; `nil` if they may.
    var openCircuit: String? { messageGate.breaker.openReason }

    /// The number of pending commands.
    var inFlight: Int { commandsInFlight.load(ordering: .relaxed) }

    /// Performs a command's work within the limit of pending commands.
    ///
    /// - Parameters:
    ///   - cost: The number of commands that it counts for.
    ///   - limit: The maximum number of commands in flight, including this one.
    /// - Throws: ``CommandFailure`` `overloaded` at the limit.
    func withinLimit<Answer>(
        cost: Int = 1, limit: Int = maxInFlight, _ work: () async -> Answer
    ) async throws(CommandFailure) -> Answer {
        let count = commandsInFlight.add(cost, ordering: .relaxed).newValue
        defer { commandsInFlight.subtract(cost, ordering: .relaxed) }
        guard count <= limit else {
            throw CommandFailure(.overloaded, "\(limit) commands for the project \(id) are under way already")
        }
        return await work()
    }

    /// Waits for the components' turn and sends them in order, so that a phone most likely shows the notification first.
    @inline(__always)
    func send(
        _ components: [Component], of command: RelayMessage, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [ComponentOutcome] {
        let topic = command.target == .topic ? FCMTopic.subject(command.draft.topicKey) : nil
        let isAlert = command.draft.distribution == .alert
        if let error = await messageGate.enter(
            for: topic, isAlert: isAlert, cost: components.count, of: command.msiKey, by: min(expiry, deadline))
        {
            return components.map { ComponentOutcome(component: $0, result: .failure(error)) }
        }
        let start = ContinuousClock.now
        let results = await sender.send(components, of: command, now: now(), before: expiry, by: deadline)
        counts.duration.record(since: start)
        return outcomes(of: results, to: components, about: topic)
    }

    @inline(never)
    private func outcomes(
        of results: [Result<String, SendFailure>], to components: [Component], about topic: FCMTopic?
    ) -> [ComponentOutcome] {
        zip(components, messageGate.leave(results, about: topic)).map(ComponentOutcome.init)
    }

    /// The current rate of its messages.
    var pace: ProjectPace { messageGate.pacer.pace(of: id) }

    /// Subscribes phones to a topic, or unsubscribes them.
    ///
    /// - Returns: One result for each phone.
    func perform(
        _ change: TopicChange, _ phones: TopicPhones, by deadline: ContinuousClock.Instant
    ) async -> [TopicResults.Result] {
        func all(_ error: DeliveryError) -> [TopicResults.Result] {
            phones.tokens.map { _ in TopicResults.Result(error: error) }
        }
        guard let topics else {
            return all(DeliveryError(.noServiceAccount, "topics cannot be managed with a server key"))
        }
        if let error = await topicGate.enter(for: nil, isAlert: false, cost: phones.tokens.count, by: deadline) {
            return all(error)
        }
        let result = await topics.perform(change, phones, by: deadline)
        switch topicGate.leave([result], about: nil)[0] {
        case .success(let results): return results
        case .failure(let error): return all(error)
        }
    }

    /// The topics of a phone.
    func topics(of token: String, by deadline: ContinuousClock.Instant) async -> Result<[String], DeliveryError> {
        guard let topics else {
            return .failure(DeliveryError(.noServiceAccount, "topics cannot be read with a server key"))
        }
        if let error = await topicGate.enter(for: nil, isAlert: false, cost: 1, by: deadline) { return .failure(error) }
        return topicGate.leave([await topics.topics(of: token, by: deadline)], about: nil)[0]
    }

    /// Refuses all waiting sends, and every later one, with a retryable error. Pending requests to FCM continue.
    func stopSending() {
        messageGate.pacer.stop()
        topicGate.pacer.stop()
        transport.refuseNewRequests()
    }

    /// Fails all waiting and pending sends with a retryable error, and closes the connections.
    func close() async {
        stopSending()
        await transport.close()
    }
}
