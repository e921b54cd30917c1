import CommandBus
import DequeModule
import Schemas
import Time

/// Decides when each send may go out. Pure: events in, decisions out.
///
/// Alerts go before information. If the project's quota is used up, the whole project pauses; if a topic's is, only the topic
/// pauses. A send that cannot go out before its deadline is refused at once, with the time to retry.
struct PacingStateMachine<Waiter: Sendable>: Sendable {
    /// A send that asks for its turn.
    struct Request: Sendable {
        let waiter: Waiter
        let topic: FCMTopic?
        let isAlert: Bool
        /// The number of requests that it counts for.
        let cost: Int
        /// When its caller gives up.
        let deadline: ContinuousClock.Instant
        /// The key of its message or push.
        var key: ObjectID?
    }

    /// The decision about a waiting send.
    enum Decision: Sendable {
        case go(Waiter)
        /// It cannot go out in time.
        case refuse(Waiter, Refusal)
    }

    enum Refusal: Hashable, Sendable {
        case projectPaused(Duration)
        case topicPaused(Duration)
        /// The queue is too long for the rate.
        case tooMuch(Duration)
        /// The relay is stopping.
        case stopped
        /// The process was paused.
        case paused
    }

    private struct Queue: Sendable {
        private var requests: Deque<Request> = []
        /// The total cost of the queue.
        private(set) var cost = 0
        /// A lower bound of the deadlines in the queue. It may be too early, since the end of a request does not change it.
        private(set) var earliestDeadline: ContinuousClock.Instant?

        var isEmpty: Bool { requests.isEmpty }
        var first: Request? { requests.first }

        mutating func append(_ request: Request) {
            requests.append(request)
            cost += request.cost
            earliestDeadline = min(earliestDeadline ?? request.deadline, request.deadline)
        }

        mutating func removeFirst() {
            cost -= requests.removeFirst().cost
            if isEmpty { earliestDeadline = nil }
        }

        /// Removes the sends whose callers have given up. Nearly always this is one comparison.
        mutating func removeLate(at now: ContinuousClock.Instant) -> [Request] {
            guard let earliestDeadline, earliestDeadline <= now else { return [] }
            let late = removeAll { $0.deadline <= now }
            self.earliestDeadline = requests.lazy.map(\.deadline).min()
            return late
        }

        mutating func removeAll(where isGone: (Request) -> Bool) -> [Request] {
            let gone: [Request] = requests.filter(isGone)
            if !gone.isEmpty {
                requests.removeAll(where: isGone)
                cost -= gone.reduce(0) { $0 + $1.cost }
            }
            return gone
        }
    }

    /// The minimum delay of an alarm that counts as a pause of the process, as on the bus.
    private static var minPause: Duration { BusTimes.minPause }

    /// When there are this many paused topics, all are forgotten. FCM then refuses their messages again.
    private static var maxPausedTopics: Int { 10_000 }

    private var bucket: TokenBucket
    /// What has gone out.
    private var sent: MinuteCount
    private var alerts = Queue()
    private var information = Queue()
    private var projectPausedUntil: ContinuousClock.Instant?
    private var pausedTopics: [FCMTopic: ContinuousClock.Instant] = [:]
    private var isStopped = false

    init(bucket: TokenBucket, at now: ContinuousClock.Instant) {
        self.bucket = bucket
        sent = MinuteCount(at: now)
    }

    /// Fast path: a send asks whether it may go out at once.
    ///
    /// - Returns: `true` if nothing waits, nothing is paused and the rate allows it. Otherwise nothing has changed.
    mutating func tryTakeTurn(to topic: FCMTopic?, cost: Int, at now: ContinuousClock.Instant) -> Bool {
        guard !isStopped, alerts.isEmpty, information.isEmpty, projectPausedUntil.map({ $0 <= now }) ?? true,
            topic.flatMap({ pausedTopics[$0] }).map({ $0 <= now }) ?? true
        else { return false }
        guard bucket.take(cost, at: now) == nil else { return false }
        sent.add(cost, at: now)
        return true
    }

    /// A send asks for its turn.
    mutating func ask(_ request: Request, at now: ContinuousClock.Instant) -> [Decision] {
        if isStopped { return [.refuse(request.waiter, .stopped)] }
        if let topic = request.topic, let end = pausedTopics[topic] {
            if end > now { return [.refuse(request.waiter, .topicPaused(end - now))] }
            pausedTopics[topic] = nil
        }
        if let end = projectPausedUntil, end > now, end >= request.deadline {
            return [.refuse(request.waiter, .projectPaused(end - now))]
        }
        let late = refuseLate(at: now)
        let ahead = alerts.cost + (request.isAlert ? 0 : information.cost)
        let wait = Duration.seconds(Double(ahead) / bucket.currentRate(at: now))
        if now + wait >= request.deadline { return late + [.refuse(request.waiter, .tooMuch(wait))] }
        if request.isAlert { alerts.append(request) } else { information.append(request) }
        return late + advance(at: now)
    }

    /// Time has passed, or something has changed.
    mutating func advance(at now: ContinuousClock.Instant) -> [Decision] {
        var decisions = refuseLate(at: now)
        if let end = projectPausedUntil, end > now { return decisions }
        while let request = alerts.first ?? information.first, bucket.take(request.cost, at: now) == nil {
            decisions.append(.go(request.waiter))
            sent.add(request.cost, at: now)
            if alerts.isEmpty { information.removeFirst() } else { alerts.removeFirst() }
        }
        return decisions
    }

    /// Refuses the sends whose callers have given up, at any place in the queue, so that they do not count as load for others.
    /// The refusal comes at the deadline and not at the send's turn.
    private mutating func refuseLate(at now: ContinuousClock.Instant) -> [Decision] {
        let late = alerts.removeLate(at: now) + information.removeLate(at: now)
        return late.isEmpty ? [] : late.map { .refuse($0.waiter, refusal(at: now)) }
    }

    /// When to advance next; `nil` if nothing waits.
    func nextMoment(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let first = alerts.first ?? information.first else { return nil }
        var copy = bucket
        let turn = max(copy.take(first.cost, at: now) ?? now, projectPausedUntil ?? now)
        return [turn, alerts.earliestDeadline, information.earliestDeadline].compactMap(\.self).min()
    }

    /// Refuses all waiting sends after a pause of the process: the callers may have given up, and asked another relay.
    ///
    /// - Parameter alarm: The time from ``nextMoment(at:)`` that is due.
    mutating func refuseAfterPause(alarm: ContinuousClock.Instant, at now: ContinuousClock.Instant) -> [Decision] {
        guard now - alarm >= Self.minPause else { return [] }
        return (alerts.removeAll { _ in true } + information.removeAll { _ in true }).map { .refuse($0.waiter, .paused) }
    }

    /// FCM says that the project's quota is used up.
    mutating func projectQuotaExceeded(for pause: Duration, at now: ContinuousClock.Instant) -> [Decision] {
        let end = now + pause
        projectPausedUntil = max(projectPausedUntil ?? end, end)
        let isTooLate = { (request: Request) in request.deadline <= end }
        return (alerts.removeAll(where: isTooLate) + information.removeAll(where: isTooLate)).map {
            .refuse($0.waiter, .projectPaused(pause))
        }
    }

    /// FCM says that a topic has had too many messages.
    mutating func topicQuotaExceeded(_ topic: FCMTopic, for pause: Duration, at now: ContinuousClock.Instant) -> [Decision] {
        if pausedTopics.count >= Self.maxPausedTopics { pausedTopics = [:] }
        pausedTopics[topic] = now + pause
        let isPaused = { (request: Request) in request.topic == topic }
        return (alerts.removeAll(where: isPaused) + information.removeAll(where: isPaused)).map {
            .refuse($0.waiter, .topicPaused(pause))
        }
    }

    /// Refuses the waiting sends of a message or a push, which may be recalled.
    mutating func withdraw(_ key: ObjectID, at now: ContinuousClock.Instant) -> [Decision] {
        let refusal = refusal(at: now)
        let isOfKey = { (request: Request) in request.key == key }
        return (alerts.removeAll(where: isOfKey) + information.removeAll(where: isOfKey)).map { .refuse($0.waiter, refusal) }
    }

    /// The current rate, the number of waiting sends and the rest of a pause.
    func pace(of project: String, at now: ContinuousClock.Instant) -> ProjectPace {
        ProjectPace(
            id: project, rate: bucket.currentRate(at: now), fullRate: bucket.rate, waiting: alerts.cost + information.cost,
            pausedFor: projectPausedUntil.flatMap { $0 > now ? Milliseconds($0 - now) : nil })
    }

    /// The sends of the last minute as a part of those that the full rate allows in a minute.
    func quotaUsed(at now: ContinuousClock.Instant) -> Double {
        Double(sent.sum(at: now)) / (bucket.rate * 60)
    }

    /// Refuses all waiting sends and every later one.
    mutating func stop() -> [Decision] {
        isStopped = true
        return (alerts.removeAll { _ in true } + information.removeAll { _ in true }).map { .refuse($0.waiter, .stopped) }
    }

    private func refusal(at now: ContinuousClock.Instant) -> Refusal {
        if let end = projectPausedUntil, end > now { return .projectPaused(end - now) }
        return .tooMuch(.seconds(Double(alerts.cost + information.cost) / bucket.currentRate(at: now)))
    }
}
