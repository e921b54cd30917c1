import Bus
import Schemas
import ServiceKit
import Base

/// Decides when each send may go out. Pure: events in, decisions out.
///
/// Alerts go before information, and pop-ups that were asked for alone before everything else: while sends wait, an Alert asks for
/// its data only when FCM has its pop-up. So the pop-ups of all waiting Alerts go before the data of any.
///
/// If the project's quota is used up, the whole project pauses; if a topic's is, only the topic pauses. A send that cannot go out
/// before its deadline is refused at once, with the time to retry.
///
/// A group of a push's recipients waits twice: until there is room among the groups under way (``PushGroups``), and then for the
/// pace, with the messages of its urgency. Of each urgency at most one group waits for the pace, so that a message waits for no
/// more than that one.
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
        /// When the push arrived to which it is a group of recipients; `nil` for a message.
        var pushArrival: ContinuousClock.Instant?
        /// Whether it is an Alert's pop-up alone.
        var isPopUp = false
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
        /// FCM does not answer.
        case circuitOpen(DeliveryError)
    }

    /// The minimum delay of an alarm that counts as a pause of the process, as on the bus.
    private static var minPause: Duration { BusTimes.minPause }

    /// When there are this many paused topics, all are forgotten. FCM then refuses their messages again.
    private static var maxPausedTopics: Int { 10_000 }

    private var bucket: TokenBucket
    /// What has gone out.
    private var sent: MinuteCount
    private var popUps = PacingQueue<Waiter>()
    private var alerts = PacingQueue<Waiter>()
    private var information = PacingQueue<Waiter>()
    /// The groups under way, and those that wait for room. A group in one of the queues above is under way.
    private var groups: PushGroups<Waiter>
    /// How many groups of a push have had their turn and not ended.
    private var groupsAtFCM: [ObjectID: Int] = [:]
    /// When waiting pushes were withdrawn, as long as their commands may last.
    private var withdrawals: [ObjectID: ContinuousClock.Instant] = [:]
    private var projectPausedUntil: ContinuousClock.Instant?
    private var pausedTopics: [FCMTopic: ContinuousClock.Instant] = [:]
    private var isStopped = false

    /// - Parameter maxPushRecipients: The maximum number of recipients of the groups under way.
    init(bucket: TokenBucket, maxPushRecipients: Int = Project.maxPushRecipients, at now: ContinuousClock.Instant) {
        self.bucket = bucket
        groups = PushGroups(maxRecipients: maxPushRecipients)
        sent = MinuteCount(at: now)
    }

    /// Fast path: a send asks whether it may go out at once.
    ///
    /// - Parameters:
    ///   - key: The key of its message or push.
    ///   - pushArrival: When the push arrived to which it is a group of recipients; `nil` for a message. After the turn of a group
    ///     ``endGroup(of:cost:isAlert:at:)`` must be called.
    /// - Returns: `true` if nothing waits, nothing is paused and the rate allows it. Otherwise nothing has changed.
    mutating func tryTakeTurn(
        to topic: FCMTopic?, isAlert: Bool = false, cost: Int, of key: ObjectID? = nil,
        pushArrival: ContinuousClock.Instant? = nil, at now: ContinuousClock.Instant
    ) -> Bool {
        guard !isStopped, first == nil, projectPausedUntil.map({ $0 <= now }) ?? true,
            topic.flatMap({ pausedTopics[$0] }).map({ $0 <= now }) ?? true
        else { return false }
        let isGroup = pushArrival != nil
        if isGroup, isWithdrawn(key, pushArrival) || !groups.mayBegin(cost, isUrgent: isAlert) { return false }
        guard bucket.take(cost, at: now) == nil else { return false }
        if isGroup {
            groups.begin(cost, isUrgent: isAlert)
            groupWentOut(of: key)
        }
        sent.add(cost, at: now)
        return true
    }

    /// Whether a send would have to wait, whatever its topic.
    func mustWait(_ cost: Int, at now: ContinuousClock.Instant) -> Bool {
        if first != nil || projectPausedUntil.map({ $0 > now }) ?? false { return true }
        var copy = bucket
        return copy.take(cost, at: now) != nil
    }

    /// A send asks for its turn.
    mutating func ask(_ request: Request, at now: ContinuousClock.Instant) -> [Decision] {
        if isStopped { return [.refuse(request.waiter, .stopped)] }
        if isWithdrawn(request.key, request.pushArrival) { return [.refuse(request.waiter, refusal(at: now))] }
        if let topic = request.topic, let end = pausedTopics[topic] {
            if end > now { return [.refuse(request.waiter, .topicPaused(end - now))] }
            pausedTopics[topic] = nil
        }
        if let end = projectPausedUntil, end > now, end >= request.deadline {
            return [.refuse(request.waiter, .projectPaused(end - now))]
        }
        let late = refuseLate(at: now)
        var ahead = popUps.cost
        if !request.isPopUp { ahead += alerts.cost + (request.isAlert ? 0 : information.cost) }
        if request.isGroup { ahead += groups.cost(before: request) }
        let wait = Duration.seconds(Double(ahead) / bucket.currentRate(at: now))
        if now + wait >= request.deadline { return late + [.refuse(request.waiter, .tooMuch(wait))] }
        if request.isGroup {
            groups.wait(request)
            beginGroups()
        } else {
            queue(request)
        }
        return late + advance(at: now)
    }

    private mutating func queue(_ request: Request) {
        if request.isPopUp {
            popUps.append(request)
        } else if request.isAlert {
            alerts.append(request)
        } else {
            information.append(request)
        }
    }

    /// The send whose turn is next.
    private var first: Request? { popUps.first ?? alerts.first ?? information.first }

    private mutating func removeFirst() {
        if !popUps.isEmpty {
            popUps.removeFirst()
        } else if !alerts.isEmpty {
            alerts.removeFirst()
        } else {
            information.removeFirst()
        }
    }

    /// Lets waiting groups wait for the pace if there is room for them: of each urgency one at a time, and the next one behind the
    /// messages that have come since.
    private mutating func beginGroups() {
        while let group = groups.next(urgent: !alerts.hasGroup, normal: !information.hasGroup) { queue(group) }
    }

    private mutating func groupWentOut(of key: ObjectID?) {
        if let key { groupsAtFCM[key, default: 0] += 1 }
    }

    /// FCM has answered a group that had its turn, or it was not sent.
    ///
    /// - Parameter key: The key of its push.
    mutating func endGroup(of key: ObjectID?, cost: Int, isAlert: Bool, at now: ContinuousClock.Instant) -> [Decision] {
        if let key, let others = groupsAtFCM[key].map({ $0 - 1 }) { groupsAtFCM[key] = others > 0 ? others : nil }
        groups.end(cost, isUrgent: isAlert)
        beginGroups()
        return advance(at: now)
    }

    /// Time has passed, or something has changed.
    mutating func advance(at now: ContinuousClock.Instant) -> [Decision] {
        var decisions = refuseLate(at: now)
        if let end = projectPausedUntil, end > now { return decisions }
        while let request = first, bucket.take(request.cost, at: now) == nil {
            decisions.append(.go(request.waiter))
            sent.add(request.cost, at: now)
            removeFirst()
            guard request.isGroup else { continue }
            groupWentOut(of: request.key)
            beginGroups()
        }
        return decisions
    }

    /// Refuses the sends whose callers have given up, at any place in the queue, so that they do not count as load for others.
    /// The refusal comes at the deadline and not at the send's turn.
    private mutating func refuseLate(at now: ContinuousClock.Instant) -> [Decision] {
        let queued = popUps.removeLate(at: now) + alerts.removeLate(at: now) + information.removeLate(at: now)
        let late = queued + groups.removeLate(at: now)
        guard !late.isEmpty else { return [] }
        end(queued)
        return late.map { .refuse($0.waiter, refusal(at: now)) }
    }

    /// Removes waiting sends of all kinds.
    private mutating func removeAll(where isGone: (Request) -> Bool) -> [Request] {
        let queued =
            popUps.removeAll(where: isGone) + alerts.removeAll(where: isGone) + information.removeAll(where: isGone)
        let gone = queued + groups.removeAll(where: isGone)
        end(queued)
        return gone
    }

    /// The groups among these sends do not go out, and leave room for others.
    private mutating func end(_ queued: [Request]) {
        for request in queued where request.isGroup { groups.end(request.cost, isUrgent: request.isAlert) }
        beginGroups()
    }

    /// When to advance next; `nil` if nothing waits.
    func nextMoment(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let turn = first.map { first in
            var copy = bucket
            return max(copy.take(first.cost, at: now) ?? now, projectPausedUntil ?? now)
        }
        let deadlines = [
            popUps.earliestDeadline, alerts.earliestDeadline, information.earliestDeadline, groups.earliestDeadline,
        ]
        return ([turn] + deadlines).compactMap(\.self).min()
    }

    /// Refuses all waiting sends after a pause of the process: the callers may have given up, and asked another relay.
    ///
    /// - Parameter alarm: The time from ``nextMoment(at:)`` that is due.
    mutating func refuseAfterPause(alarm: ContinuousClock.Instant, at now: ContinuousClock.Instant) -> [Decision] {
        guard now - alarm >= Self.minPause else { return [] }
        return removeAll { _ in true }.map { .refuse($0.waiter, .paused) }
    }

    /// FCM says that the project's quota is used up.
    mutating func projectQuotaExceeded(for pause: Duration, at now: ContinuousClock.Instant) -> [Decision] {
        let end = now + pause
        projectPausedUntil = max(projectPausedUntil ?? end, end)
        return removeAll { $0.deadline <= end }.map { .refuse($0.waiter, .projectPaused(pause)) }
    }

    /// FCM says that a topic has had too many messages.
    mutating func topicQuotaExceeded(_ topic: FCMTopic, for pause: Duration, at now: ContinuousClock.Instant) -> [Decision] {
        if pausedTopics.count >= Self.maxPausedTopics { pausedTopics = [:] }
        pausedTopics[topic] = now + pause
        return removeAll { $0.topic == topic }.map { .refuse($0.waiter, .topicPaused(pause)) }
    }

    /// FCM does not answer: the groups that wait for the answers of others are refused.
    mutating func circuitOpened(_ error: DeliveryError) -> [Decision] {
        groups.removeAll { _ in true }.map { .refuse($0.waiter, .circuitOpen(error)) }
    }

    /// Refuses the waiting sends of a message or a push, which may be recalled, and those that the same commands ask for later.
    ///
    /// A push of which a group is on its way to FCM is left alone: it can no longer be recalled.
    ///
    /// - Returns: The decisions, and the number of commands. Several groups of a push belong to one command.
    mutating func withdraw(_ key: ObjectID, at now: ContinuousClock.Instant) -> (decisions: [Decision], commands: Int) {
        guard groupsAtFCM[key] == nil else { return ([], 0) }
        let refusal = refusal(at: now)
        let gone = removeAll { $0.key == key }
        let pushes = Set(gone.compactMap(\.pushArrival)).count
        if pushes > 0 {
            withdrawals = withdrawals.filter { now - $0.value < DeliveryTimes.maxRelayTime }
            withdrawals[key] = now
        }
        return (gone.map { .refuse($0.waiter, refusal) }, pushes + gone.count { !$0.isGroup })
    }

    /// Whether a group belongs to a command that was withdrawn. A command that came later is a new attempt.
    private func isWithdrawn(_ key: ObjectID?, _ pushArrival: ContinuousClock.Instant?) -> Bool {
        guard let key, let pushArrival, let time = withdrawals[key] else { return false }
        return pushArrival <= time
    }

    /// The current rate, the number of waiting sends and the rest of a pause.
    func pace(of project: String, at now: ContinuousClock.Instant) -> ProjectPace {
        ProjectPace(
            id: project, rate: bucket.currentRate(at: now), fullRate: bucket.rate, waiting: waiting,
            pausedFor: projectPausedUntil.flatMap { $0 > now ? Milliseconds($0 - now) : nil })
    }

    /// The sends of the last minute as a part of those that the full rate allows in a minute.
    func quotaUsed(at now: ContinuousClock.Instant) -> Double {
        Double(sent.sum(at: now)) / (bucket.rate * 60)
    }

    /// Refuses all waiting sends and every later one.
    mutating func stop() -> [Decision] {
        isStopped = true
        return removeAll { _ in true }.map { .refuse($0.waiter, .stopped) }
    }

    /// The total cost of the waiting sends.
    private var waiting: Int { popUps.cost + alerts.cost + information.cost + groups.cost }

    private func refusal(at now: ContinuousClock.Instant) -> Refusal {
        if let end = projectPausedUntil, end > now { return .projectPaused(end - now) }
        return .tooMuch(.seconds(Double(waiting) / bucket.currentRate(at: now)))
    }
}

extension PacingStateMachine.Request {
    /// Whether it is a group of a push's recipients.
    var isGroup: Bool { pushArrival != nil }
}

/// A topic as the pacer's key. A topic that has had too many messages pauses alone.
enum FCMTopic: Hashable, Sendable {
    /// A subject's topic. Its name is not written out for every message.
    case subject(TopicKey)
    case other(String)

    /// - Parameter name: FCM's name of the topic.
    init(_ name: String) {
        self = TopicKey(name).map { .subject($0) } ?? .other(name)
    }
}
