import Base
import HTTPTransport
import Logging
import Schemas
import Synchronization

/// One push service with everything that its pushes share. Services share nothing but the transport. So one that fails, hangs or refuses
/// the hub's pushes does not delay the pushes to others.
final class PushService: Sendable {
    /// A request with its place in the list of the caller.
    typealias Numbered = (index: Int, request: WebPushRequest)
    /// The outcome of a request with that place.
    typealias Outcome = (index: Int, result: Result<String, WebPushFailure>)

    private typealias Waiter = CheckedContinuation<DeliveryError?, Never>

    private struct State {
        var pace = ServicePace<Waiter>()
        /// The number of pushes that wait. Of each call only the first one has asked for its turn.
        var waiting = 0
        /// Goes off when a waiting push may be sent, or gives up waiting.
        var alarm = Alarm<ContinuousClock.Instant>()
        /// The endpoint that the service has refused last.
        var refusedURL: String?
        var lastAnswer: PushServiceAnswer?
        /// Whether the last answer was none, because the service or the connection to it failed.
        var hasFailed = false
        /// Whether the log says that the service does not answer.
        var isLoggedAsDown = false

        /// Notes the last answer. One about a subscription shows only that the service answers again.
        mutating func note(_ known: PushServiceAnswer, _ answer: PushAnswer) {
            if answer.lesson == .inconclusive { return }
            guard !answer.isAboutSubscription else {
                if hasFailed { (lastAnswer, hasFailed) = (nil, false) }
                return
            }
            lastAnswer = known
            if case .failed = answer.lesson { hasFailed = true } else { hasFailed = false }
        }
    }

    /// How long a push waits for its turn if its block has pushes to other services. A block that waits longer occupies its place in the
    /// outbox, and so delays the pushes to other services in later blocks. A service that works gives a turn in milliseconds.
    private static let maxWaitBesideOthers = Duration.seconds(2)
    /// This many failures in a row stop the pushes.
    private static let maxFailures = 10

    private let origin: String
    private let transport: any HTTPTransport
    private let breaker: CircuitBreaker
    private let logger: Logger
    private let now: @Sendable () -> UnixMilliseconds
    private let state = Mutex(State())

    /// - Parameter now: The wall clock, for a Retry-After that is a date.
    init(origin: String, transport: any HTTPTransport, logger: Logger, now: @escaping @Sendable () -> UnixMilliseconds) {
        self.origin = origin
        self.transport = transport
        var logger = logger
        logger[metadataKey: "service"] = "\(origin)"
        self.logger = logger
        self.now = now
        breaker = CircuitBreaker(
            problem: "\(origin) has failed many times in a row", maxFailures: Self.maxFailures,
            probeTimeout: PushServices.requestTimeout + .seconds(5))
    }

    /// Sends each request once it has its turn, in order.
    ///
    /// - Parameter isBesideOthers: Whether the same block has pushes to other services.
    func send(_ requests: [Numbered], by deadline: ContinuousClock.Instant, isBesideOthers: Bool = false) async -> [Outcome] {
        // A push without enough time for an answer might be sent twice, so it is not begun after a wait.
        let lastTurn = deadline - PushServices.requestTimeout
        let requests = ordered(requests)
        state.withLock { $0.waiting += requests.count }
        return await withTaskGroup(of: Outcome.self) { tasks in
            var outcomes: [Outcome] = []
            var running = 0
            for (position, next) in requests.enumerated() {
                // While the service fails, a single push finds out whether it works again. Others beside it would be refused.
                while running > 0, isProbing, let outcome = await tasks.next() {
                    outcomes.append(outcome)
                    running -= 1
                }
                let turnEnd = isBesideOthers ? min(lastTurn, .now + Self.maxWaitBesideOthers) : lastTurn
                if let error = await turn(isUrgent: next.request.isUrgent, by: deadline, waitingUntil: turnEnd) {
                    // What keeps one back keeps back the later ones, too.
                    state.withLock { $0.waiting -= requests.count - position }
                    for kept in requests[position...] {
                        outcomes.append((index: kept.index, result: .failure(WebPushFailure(error))))
                    }
                    break
                }
                running += 1
                state.withLock { $0.waiting -= 1 }
                tasks.addTask { (index: next.index, result: await self.sendNow(next.request, by: deadline)) }
            }
            for await outcome in tasks { outcomes.append(outcome) }
            return outcomes
        }
    }

    /// Whether pushes are sent one at a time, to find out whether the service works again.
    private var isProbing: Bool { !breaker.isClosed || state.withLock { $0.pace.refusing != nil } }

    /// The endpoint that the service has refused last goes last: if the refusal is about this subscription, another push shows it.
    private func ordered(_ requests: [Numbered]) -> [Numbered] {
        guard requests.count > 1, let refused = state.withLock(\.refusedURL) else { return requests }
        return requests.filter { $0.request.url != refused } + requests.filter { $0.request.url == refused }
    }

    /// Waits for a push's turn.
    ///
    /// - Parameters:
    ///   - deadline: The push is not sent after it.
    ///   - lastTurn: The same for a push that has to wait.
    /// - Returns: `nil` if it may be sent, after which ``ended(_:begun:)`` must follow. Otherwise a retryable error with the reason.
    private func turn(
        isUrgent: Bool, by deadline: ContinuousClock.Instant, waitingUntil lastTurn: ContinuousClock.Instant
    ) async -> DeliveryError? {
        let now = ContinuousClock.now
        guard now < deadline else { return DeliveryError(.noTime) }
        if let error = breaker.error { return error }
        if !state.withLock({ $0.pace.tryTakeTurn(at: now) }) {
            let refusal: DeliveryError? = await withCheckedContinuation { waiter in
                act { $0.ask(waiter, isUrgent: isUrgent, by: lastTurn, at: .now) }
            }
            if let refusal { return refusal }
        }
        guard let error = breaker.refusal(beforeProbe: {}) else { return nil }
        act { $0.ended(.inconclusive, begun: now, at: .now) }
        return error
    }

    /// Sends a push that has its turn.
    private func sendNow(_ request: WebPushRequest, by deadline: ContinuousClock.Instant) async -> Result<String, WebPushFailure>
    {
        let begin = ContinuousClock.now
        let end = min(deadline, begin + PushServices.requestTimeout)
        let requests = [
            HTTPTransportRequest(
                url: request.url, headers: request.headers, body: request.body, deadline: end,
                scope: request.isOperatorsOrigin ? .allAndPlainLoopback : .publicAddresses)
        ]
        var outcomes = await transport.send(requests)
        if outcomes[0].hasNotReachedServer {
            outcomes = await transport.resend(requests, after: outcomes, before: min(end, begin + PushServices.reconnectTimeout))
        }
        let answer = PushAnswer(outcomes[0], isProven: request.isProven, after: ContinuousClock.now - begin, now: now())
        let known = PushServiceAnswer(at: now(), error: answer.error)
        state.withLock { state in
            state.note(known, answer)
            if case .refused = answer.lesson { state.refusedURL = request.url }
        }
        ended(answer.lesson, begun: begin)
        // An operator's mistake is not an attempt of the push.
        if case .refused = answer.lesson, let reason = state.withLock({ $0.pace.refusing }) {
            return .failure(WebPushFailure(error(for: .refusing(reason, .seconds(60)))))
        }
        return answer.result
    }

    /// Notes what a push that had its turn says about the service.
    private func ended(_ lesson: PushAnswer.Lesson, begun begin: ContinuousClock.Instant) {
        switch lesson {
        case .accepted, .answered, .throttled, .refused: breaker.answered()
        case .failed(let error): breaker.failed(error)
        case .inconclusive: breaker.learnedNothing()
        }
        act { $0.ended(lesson, begun: begin, at: .now) }
        if case .failed = lesson, let error = breaker.error { act { $0.circuitOpened(error) } }
        logOutage()
    }

    /// Logs one line when the service does not answer any more, and one when it does.
    private func logOutage() {
        let isDown = !breaker.isClosed
        let isChange = state.withLock { state in
            defer { state.isLoggedAsDown = isDown }
            return state.isLoggedAsDown != isDown
        }
        guard isChange else { return }
        if isDown {
            logger.warning("a push service does not answer", metadata: ["error": "\(breaker.openReason ?? "")"])
        } else {
            logger.notice("a push service answers again")
        }
    }

    /// - Parameter alarm: The alarm that has gone off, if any.
    private func act(
        on alarm: ContinuousClock.Instant? = nil,
        _ event: (inout ServicePace<Waiter>) -> [ServicePace<Waiter>.Decision]
    ) {
        let (decisions, next, before, after) = state.withLock { state in
            if let alarm { state.alarm.rang(alarm) }
            let before = state.pace.refusing
            let decisions = event(&state.pace)
            return (decisions, Self.newAlarm(&state), before, state.pace.refusing)
        }
        logRefusal(before, after)
        for decision in decisions {
            switch decision {
            case .go(let waiter): waiter.resume(returning: nil)
            case .refuse(let waiter, let refusal): waiter.resume(returning: error(for: refusal))
            }
        }
        guard let next else { return }
        Task {
            try await Task.sleep(until: next)
            self.act(on: next) { $0.advance(at: .now) }
        }
    }

    /// - Returns: The time of a new alarm, unless an earlier one is set already.
    private static func newAlarm(_ state: inout State) -> ContinuousClock.Instant? {
        guard let moment = state.pace.nextMoment(at: .now), state.alarm.set(for: moment) else { return nil }
        return moment
    }

    /// Logs when the service begins to refuse the hub's pushes, and when it accepts them again.
    private func logRefusal(_ before: String?, _ after: String?) {
        switch (before, after) {
        case (nil, let reason?):
            logger.error("a push service refuses the hub's pushes; no more are sent to it", metadata: ["error": "\(reason)"])
        case (.some, nil):
            logger.notice("a push service accepts the hub's pushes again")
        default: break
        }
    }

    /// The error of a push that was not sent.
    private func error(for refusal: ServicePace<Waiter>.Refusal) -> DeliveryError {
        switch refusal {
        case .paused(let pause):
            DeliveryError(.paced, "\(origin) asks for a pause", retryAfter: max(1, Milliseconds(pause)))
        case .tooMuch:
            DeliveryError(.paced, "more pushes wait for \(origin) than it takes by the deadline", retryAfter: 1_000)
        case .refusing(let reason, let pause):
            DeliveryError(
                .circuitOpen, "\(origin) refuses the hub's pushes, which the operator must correct: \(reason)",
                retryAfter: max(1, Milliseconds(pause)))
        case .circuitOpen(let error): error
        case .stopped: DeliveryError(.stopped)
        }
    }

    /// Its state for the operator.
    var status: PushServiceStatus {
        let (pace, pause, waiting, lastAnswer) = state.withLock { ($0.pace, $0.pace.pause(at: .now), $0.waiting, $0.lastAnswer) }
        let stopped =
            pace.refusing ?? breaker.openReason
            ?? pause.map { "the push service asks for a pause of another \($0.components.seconds + 1) s" }
        return PushServiceStatus(
            origin: origin, inFlight: pace.inFlight, limit: pace.limit, waiting: waiting, stopped: stopped,
            isRefusing: pace.refusing != nil, lastAnswer: lastAnswer)
    }

    /// Whether it can be forgotten: nothing is under way, and nothing would be different for a new one.
    var isIdle: Bool {
        let status = status
        return status.inFlight == 0 && status.waiting == 0 && status.stopped == nil && breaker.isClosed
    }

    /// Fails all waiting pushes, and every later one, with a retryable error. Pending requests continue.
    func stop() {
        act { $0.stop() }
    }
}
