import CoreMetrics
import HTTPTransport
import Instruments
import Schemas
import Synchronization
import Base

/// A Firebase project with everything that its messages share. Projects share nothing. So a project whose key is refused, whose
/// quota is used up or whose FCM hangs does not slow down the others.
final class Project: Sendable {
    /// The maximum number of pending commands, without pushes; further ones get `overloaded`. The connections to FCM carry about
    /// this many sends.
    static let maxInFlight = 1_024
    /// The maximum number of recipients of pushes that are under way. The other half is kept for messages.
    static let maxPushRecipients = maxInFlight / 2
    /// The maximum number of pending pushes; the recipients of further ones get `OVERLOADED`. Most of them wait. A message log
    /// relays as many at a time.
    static let maxPushes = 256

    let id: String
    let sender: any FCMSender
    private let topics: TopicManager
    let google: GoogleClient
    let messageGate: AdmissionControl
    private let topicGate: AdmissionControl
    /// Counts its messages and pushes.
    let counts: SendCounts
    private let commandsInFlight = Atomic<Int>(0)
    private let pushesInFlight = Atomic<Int>(0)
    /// Components that are being sent, or that FCM has recently accepted.
    let history = Mutex(SendHistory<SharedOutcome>(maxRemembered: 10_000))
    /// The same for the recipients of pushes. It is separate, because in a common history ten pushes to 1,000 phones would displace
    /// all messages. A dictionary for 98,304 has 2^17 places; for more it would take twice the memory.
    let pushHistory = Mutex(SendHistory<SharedOutcome>(maxRemembered: 98_000))

    /// - Parameters:
    ///   - google: Its transport is closed with the project.
    ///   - pacer: The pacer of its messages.
    init(id: String, google: GoogleClient, sender: any FCMSender, topics: TopicManager, pacer: Pacer) {
        self.id = id
        self.google = google
        self.sender = sender
        self.topics = topics
        counts = SendCounts(project: id)
        messageGate = AdmissionControl(pacer: pacer, transport: google.transport, counts: counts)
        topicGate = AdmissionControl(
            pacer: Pacer(rate: TopicManager.changesPerSecond, ramp: .zero), transport: google.transport)
    }

    /// Requests an access token, so that the first message need not wait for it. If Google refuses the key, the log says so
    /// before the first message.
    func prepare() {
        google.tokens.prepare()
    }

    /// Whether messages reach FCM; otherwise the reason and the start of the outage.
    var health: PartHealth {
        if let reason = messageGate.breaker.openReason {
            let since = messageGate.breaker.outage.map { ", since \($0.begin)" } ?? ""
            return PartHealth(.unavailable, "CIRCUIT_OPEN: \(reason)\(since)")
        }
        guard let outage = google.tokens.outage ?? messageGate.breaker.outage else { return .ok }
        return PartHealth(.unavailable, outage.description)
    }

    /// Why messages may not go out now; `nil` if they may.
    var openCircuit: String? { messageGate.breaker.openReason }

    /// The number of pending commands, with the pushes.
    var inFlight: Int { commandsInFlight.load(ordering: .relaxed) + pushesInFlight.load(ordering: .relaxed) }

    /// Performs a command's work within the limit of pending commands.
    ///
    /// - Throws: ``CommandFailure`` `overloaded` at the limit.
    func withinLimit<Answer>(_ work: () async -> Answer) async throws(CommandFailure) -> Answer {
        let count = commandsInFlight.add(1, ordering: .relaxed).newValue
        defer { commandsInFlight.subtract(1, ordering: .relaxed) }
        guard count <= Self.maxInFlight else {
            throw CommandFailure(.overloaded, "\(Self.maxInFlight) commands for the project \(id) are under way already")
        }
        return await work()
    }

    /// Performs a push's work within the limit of pending pushes.
    ///
    /// - Throws: ``DeliveryError`` `OVERLOADED` at the limit.
    func withinPushLimit<Answer>(_ work: () async -> Answer) async throws(DeliveryError) -> Answer {
        let count = pushesInFlight.add(1, ordering: .relaxed).newValue
        defer { pushesInFlight.subtract(1, ordering: .relaxed) }
        guard count <= Self.maxPushes else {
            throw DeliveryError(.overloaded, "\(Self.maxPushes) pushes for the project \(id) are under way already")
        }
        return await work()
    }

    /// Waits for the components' turn and sends them in order, so that a phone most likely shows the notification first. An Alert that
    /// has to wait asks for a turn for each component.
    @inline(__always)
    func send(
        _ components: [Component], of command: RelayMessage, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [ComponentOutcome] {
        let topic = command.target == .topic ? FCMTopic.subject(command.content.topicKey) : nil
        let isAlert = command.content.distribution == .alert
        if isAlert, components.count > 1, components[0] == .notification, messageGate.pacer.mustWait(components.count) {
            return await sendPopUpFirst(components, of: command, to: topic, before: expiry, by: deadline, now: now)
        }
        if let error = await messageGate.enter(
            for: topic, isAlert: isAlert, cost: components.count, of: command.msiKey, by: min(expiry, deadline))
        {
            return Self.refused(components, error)
        }
        return await sendNow(components, of: command, to: topic, before: expiry, by: deadline, now: now)
    }

    /// Sends an Alert that has to wait: the pop-up, and then the data in its own turn. The pop-ups of all waiting Alerts go before the
    /// data of any, because they are what warns people, and the data is of use only to those who open the app.
    @inline(never)
    private func sendPopUpFirst(
        _ components: [Component], of command: RelayMessage, to topic: FCMTopic?, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [ComponentOutcome] {
        let end = min(expiry, deadline)
        // A pop-up that is not sent is followed by no data: the next attempt has both again.
        if let error = await messageGate.enter(for: topic, isAlert: true, isPopUp: true, of: command.msiKey, by: end) {
            return Self.refused(components, error)
        }
        let popUp = await sendNow([components[0]], of: command, to: topic, before: expiry, by: deadline, now: now)
        let rest = Array(components.dropFirst())
        // The same if FCM does not take it now. Otherwise the data would go out first, after the pause that FCM asks for.
        if case .failure(let error) = popUp[0].result, error.isSafeToRetry { return popUp + Self.refused(rest, error) }
        // Without a key: a message whose pop-up FCM has can no longer be recalled, so its data is not withdrawn.
        if let error = await messageGate.enter(for: topic, isAlert: true, cost: rest.count, by: end) {
            return popUp + Self.refused(rest, error)
        }
        return await popUp + sendNow(rest, of: command, to: topic, before: expiry, by: deadline, now: now)
    }

    private static func refused(_ components: [Component], _ error: DeliveryError) -> [ComponentOutcome] {
        components.map { ComponentOutcome(component: $0, result: .failure(error)) }
    }

    /// Sends components whose turn it is.
    @inline(__always)
    private func sendNow(
        _ components: [Component], of command: RelayMessage, to topic: FCMTopic?, before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant, now: @Sendable () -> UnixMilliseconds
    ) async -> [ComponentOutcome] {
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
        if let error = await topicGate.enter(for: nil, isAlert: false, cost: 1, by: deadline) { return .failure(error) }
        return topicGate.leave([await topics.topics(of: token, by: deadline)], about: nil)[0]
    }

    /// Fails all waiting sends, and every later one, with a retryable error. Pending requests to FCM continue.
    func stopSending() {
        messageGate.pacer.stop()
        topicGate.pacer.stop()
        google.transport.refuseNewRequests()
    }

    /// Fails all waiting and pending sends with a retryable error, and closes the connections.
    func close() async {
        stopSending()
        await google.transport.close()
    }
}

extension DeliveryError {
    /// Whether another attempt may succeed, and this one has certainly not.
    fileprivate var isSafeToRetry: Bool {
        `class` == .retryable && catalogued?.acceptance != .possible
    }
}

/// Counts the outcomes of a project's sends.
struct SendCounts: Sendable {
    private let project: String
    private let ok: Counter
    let duration: CoreMetrics.Timer

    init(project: String) {
        self.project = project
        ok = Instrument.fcmSends.counter(["project": project, "outcome": "ok"])
        duration = Instrument.fcmSendDuration.timer(["project": project])
    }

    /// - Parameter accepted: The number of sends that FCM has accepted.
    func record(accepted: Int, _ failures: [SendFailure]) {
        if accepted > 0 { ok.increment(by: accepted) }
        for failure in failures {
            // FCM may answer with a code that the relay does not know; such codes are not labels.
            let code = RelayErrorCode(rawValue: failure.error.code)?.rawValue ?? "other"
            Instrument.fcmSends.counter(["project": project, "outcome": code]).increment()
        }
    }
}

extension Project {
    /// Sets the gauges of the project.
    func collectMetrics() {
        let pace = pace
        Instrument.fcmRate.gauge(["project": id]).set(pace.rate)
        Instrument.fcmFullRate.gauge(["project": id]).set(pace.fullRate)
        Instrument.fcmWaiting.gauge(["project": id]).set(pace.waiting)
        Instrument.fcmQuotaUsed.gauge(["project": id]).set(messageGate.pacer.quotaUsed)
        Instrument.fcmQuotaPause.gauge(["project": id]).set(Double(pace.pausedFor?.rawValue ?? 0) / 1_000)
        Instrument.fcmInFlight.gauge(["project": id]).set(inFlight)
        Instrument.fcmHealthy.gauge(["project": id]).set(health.status == .ok ? 1 : 0)
        google.tokens.collectMetrics(of: id)
    }
}
