import Schemas
import Synchronization

/// A Firebase project: all that its messages share, and share with no other project's. So one whose key is refused, whose quota
/// is used up or whose FCM hangs slows no other one down.
final class Project: Sendable {
    /// Commands under way at most; the next one is `overloaded`. No more than this many sends fit the connections to FCM.
    static let maxInFlight = 1_024

    let id: String
    private let sender: any FCMSender
    /// `nil` where the project speaks the legacy API alone.
    private let topics: TopicManager?
    private let transport: any HTTPTransport
    private let tokens: AccessTokenSource?
    private let messageGate: Gate
    private let topicGate: Gate
    private let commandsUnderWay = Atomic<Int>(0)
    /// What has been sent lately, or is being sent.
    let history = Mutex(SendHistory<JointOutcome>())

    /// - Parameters:
    ///   - pacer: Of its messages.
    ///   - transport: Closed with the project.
    init(
        id: String, sender: any FCMSender, topics: TopicManager?, tokens: AccessTokenSource?, transport: any HTTPTransport,
        pacer: Pacer
    ) {
        self.id = id
        self.sender = sender
        self.topics = topics
        self.tokens = tokens
        self.transport = transport
        messageGate = Gate(pacer: pacer, transport: transport)
        topicGate = Gate(pacer: Pacer(rate: TopicManager.changesPerSecond, ramp: .zero), transport: transport)
    }

    /// Sees to it that the first message need not wait for an access token, and that a key that Google refuses is in the log
    /// before there is a message.
    func prepare() {
        tokens?.prepare()
    }

    /// Whether messages reach FCM, and if not, why and since when.
    var health: PartHealth {
        if let reason = messageGate.breaker.openReason {
            let since = messageGate.breaker.outage.map { ", since \($0.begin)" } ?? ""
            return PartHealth(.unavailable, "CIRCUIT_OPEN: \(reason)\(since)")
        }
        guard let outage = tokens?.outage ?? messageGate.breaker.outage else { return .ok }
        return PartHealth(.unavailable, outage.description)
    }

    /// Why no message may go out now; `nil` where they may.
    var openCircuit: String? { messageGate.breaker.openReason }

    /// Does a command's work if the project has room for it.
    ///
    /// - Throws: ``CommandFailure`` `overloaded` where it has none.
    func underWay<Answer>(_ work: () async -> Answer) async throws(CommandFailure) -> Answer {
        let count = commandsUnderWay.add(1, ordering: .relaxed).newValue
        defer { commandsUnderWay.subtract(1, ordering: .relaxed) }
        guard count <= Self.maxInFlight else {
            throw CommandFailure(.overloaded, "\(Self.maxInFlight) commands for the project \(id) are under way already")
        }
        return await work()
    }

    /// Sends components when their turn has come, in the order asked for, so that a phone is likely to show the notification
    /// first.
    @inline(__always)
    func send(
        _ components: [Component], of command: RelayMessage, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [ComponentOutcome] {
        let topic = command.target == .topic ? command.draft.topicKey : nil
        let isAlert = command.draft.distribution == .alert
        if let error = await messageGate.enter(for: topic, isAlert: isAlert, cost: components.count, by: min(expiry, deadline)) {
            return components.map { ComponentOutcome(component: $0, result: .failure(error)) }
        }
        let results = await sender.send(components, of: command, now: now(), before: expiry, by: deadline)
        return outcomes(of: results, to: components, about: topic)
    }

    @inline(never)
    private func outcomes(
        of results: [Result<String, SendFailure>], to components: [Component], about topic: TopicKey?
    ) -> [ComponentOutcome] {
        zip(components, messageGate.leave(results, about: topic)).map(ComponentOutcome.init)
    }

    /// How fast its messages may go out now.
    var pace: ProjectPace { messageGate.pacer.pace(of: id) }

    /// Subscribes phones to a topic, or the opposite.
    ///
    /// - Returns: One result a phone.
    func perform(
        _ change: TopicChange, _ phones: TopicPhones, by deadline: ContinuousClock.Instant
    ) async -> [TopicResults.Result] {
        func all(_ error: ComponentError) -> [TopicResults.Result] {
            phones.tokens.map { _ in TopicResults.Result(error: error) }
        }
        guard let topics else {
            return all(
                ComponentError(
                    class: .permanent, code: "NO_SERVICE_ACCOUNT", message: "topics cannot be managed with a server key"))
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

    /// Refuses every send that waits for its turn, and every later one, with a retryable error. Requests to FCM that are under
    /// way go on.
    func stopSending() {
        messageGate.pacer.stop()
        topicGate.pacer.stop()
        transport.refuseNewRequests()
    }

    /// Ends every send that waits or is under way with a retryable error, and closes the connections.
    func close() async {
        stopSending()
        await transport.close()
    }
}
