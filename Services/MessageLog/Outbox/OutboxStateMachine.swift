import MessageStorage
import Schemas
import Time

/// Decides when the outbox claims due messages, how many it relays at a time, and of which distributions. Pure: events in,
/// decisions out.
///
/// - Alerts go before information. Each distribution leaves an eighth of the room to the other. So a flood of information never
///   delays an alert, and a flood of alerts never stops information altogether.
/// - A topic may take up half of the room, but only a few places while FCM does not accept its messages. So neither a flooded
///   topic nor a failing one starves the others.
/// - While no relay answers, it tries one message at a time, waits longer after each failure, and returns to normal after the
///   first answer.
struct OutboxStateMachine: Sendable {
    /// The next action of the outbox.
    enum Action: Hashable, Sendable {
        /// Claim due messages, and report with ``claimed(_:for:at:)`` or ``claimFailed(_:at:)``.
        case claim(Claim)
        /// Wait until this time or the next event.
        case wait(until: UnixMilliseconds)
    }

    /// How a message's turn ended.
    enum Turn: Hashable, Sendable {
        /// A relay answered, and no component needs a retry.
        case settled
        /// A relay answered, and a component needs a retry.
        case deferred
        /// No relay accepted the message.
        case unreachable
        /// A relay accepted the message, and its answer was lost.
        case unanswered
        /// No relay was asked: the deadline had passed.
        case expired
        /// No relay was asked: another process owned the message by then.
        case dropped
    }

    /// The state of the claims for one distribution.
    private struct Looks: Sendable {
        var next: UnixMilliseconds = 0
        var last: UnixMilliseconds = 0
        /// Whether the last claim left messages behind because there was no room.
        var hasBacklog = false
        /// Whether a claim is running.
        var isUnderWay = false
        /// When a message became due during the running claim, which may have missed it.
        var missed: UnixMilliseconds?
    }

    /// The maximum number of messages that are relayed at a time.
    let capacity: Int
    /// The interval of claims in milliseconds. They find retries, scheduled messages, and messages of a dead instance.
    static let period: Int64 = 1_000
    /// The minimum interval of claims in milliseconds while there is a backlog, so that each claim gets more than one message.
    static let pace: Int64 = 10
    private static let maxPause: Int64 = 2_000

    /// The messages that are being relayed or about to be. Leases keep other instances away. This keeps the same process from
    /// relaying a message twice, even if its lease ends early because of a clock step, or an outage of the database.
    private var work: InFlightMessages
    /// Messages from a claim whose previous turn was just ending. They are leased again, and no process works on them.
    private var claimedAgain: [ObjectID: Message] = [:]
    private var looks: [Distribution: Looks] = [.alert: Looks(), .information: Looks()]
    /// How long nothing is claimed after a failure.
    private var backoff = Backoff(first: .milliseconds(100), max: .milliseconds(maxPause))
    private var pausedUntil: UnixMilliseconds = 0

    init(capacity: Int) {
        self.capacity = capacity
        work = InFlightMessages(capacity: capacity)
    }

    var atWork: Set<ObjectID> { work.msiKeys }

    /// Reserves room to relay a new message without a claim. Granted if there is room, relays answer, and no other message of its
    /// distribution is waiting.
    mutating func reserve(_ message: Message) -> Bool {
        guard backoff.failures == 0, looks[message.distribution]?.hasBacklog == false, work.hasRoom(for: message) else {
            return false
        }
        return work.begin(message)
    }

    /// Cancels a reservation: the message was not new, or could not be stored.
    ///
    /// - Returns: The message, if a claim has returned it meanwhile. The caller must relay it.
    mutating func cancelReservation(of msiKey: ObjectID) -> Message? {
        work.end(msiKey)
        return takeClaimedAgain(msiKey)
    }

    /// A message that is not in flight became due.
    mutating func becameDue(_ distribution: Distribution, at now: UnixMilliseconds) {
        guard let look = looks[distribution] else { return }
        if look.isUnderWay {
            looks[distribution]?.missed = min(look.missed ?? now, now)
        } else {
            looks[distribution]?.next = min(look.next, now)
        }
    }

    /// The next action.
    func next(at now: UnixMilliseconds) -> Action {
        var earliest: UnixMilliseconds?
        // Alerts first.
        for distribution in [Distribution.alert, .information] {
            guard let look = looks[distribution] else { continue }
            // The result of a running claim of alerts goes out before any later claim.
            if look.isUnderWay { break }
            guard let claim = claim(distribution) else { continue }
            let moment = max(look.next, pausedUntil)
            // A time that is further away than any pause was set before the clock was set back.
            guard moment > now, moment <= now + Self.maxPause else { return .claim(claim) }
            earliest = min(earliest ?? moment, moment)
        }
        return .wait(until: earliest ?? now + Self.period)
    }

    /// The next action. If it is a claim, the claim is running from now on: there is no other for its distribution until its
    /// result is reported.
    mutating func begin(at now: UnixMilliseconds) -> Action {
        let action = next(at: now)
        if case .claim(let claim) = action { looks[claim.distribution]?.isUnderWay = true }
        return action
    }

    private func claim(_ distribution: Distribution) -> Claim? {
        guard backoff.failures == 0 else {
            return work.isEmpty ? Claim(distribution, limit: 1, maxPerTopic: 1) : nil
        }
        return work.claim(distribution)
    }

    /// A claim has returned these messages.
    ///
    /// - Returns: The messages that are not in flight already.
    mutating func claimed(_ messages: [Message], for claim: Claim, at now: UnixMilliseconds) -> [Message] {
        let byTopic = Dictionary(grouping: messages, by: \.topicKey)
        let isShort = claim.room.values.contains(0) || byTopic.contains { $0.value.count >= claim.room(for: $0.key) }
        let isFull = messages.count >= claim.limit
        let next = now + (isFull ? Self.pace : Self.period)
        looks[claim.distribution] = Looks(
            next: min(next, looks[claim.distribution]?.missed ?? next), last: now, hasBacklog: isFull || isShort)
        return messages.filter { message in
            if work.begin(message) { return true }
            claimedAgain[message.msiKey] = message
            return false
        }
    }

    /// A claim failed: the database is unreachable.
    mutating func claimFailed(_ claim: Claim, at now: UnixMilliseconds) {
        looks[claim.distribution]?.next = now + Self.period
        looks[claim.distribution]?.isUnderWay = false
        looks[claim.distribution]?.missed = nil
    }

    /// A message's turn has ended.
    ///
    /// - Returns: The message, if a claim has returned it meanwhile. Its next turn begins, and must first check whether there is
    ///   anything left to do.
    mutating func finished(_ turn: Turn, of message: Message, at now: UnixMilliseconds) -> Message? {
        work.end(message.msiKey)
        learn(from: turn, of: message, at: now)
        return takeClaimedAgain(message.msiKey)
    }

    private mutating func takeClaimedAgain(_ msiKey: ObjectID) -> Message? {
        guard let again = claimedAgain.removeValue(forKey: msiKey), work.begin(again) else { return nil }
        return again
    }

    private mutating func learn(from turn: Turn, of message: Message, at now: UnixMilliseconds) {
        switch turn {
        case .dropped, .expired: lookForBacklog(at: now)
        case .settled, .deferred:
            work.answered(for: message.topicKey, isDeferred: turn == .deferred)
            if backoff.failures > 0 {
                for distribution in Distribution.allCases { looks[distribution]?.next = now }
            } else {
                lookForBacklog(at: now)
            }
            backoff.succeeded()
            pausedUntil = 0
        case .unreachable, .unanswered:
            // Failures of concurrent turns count once.
            if pausedUntil <= now || pausedUntil > now + Self.maxPause {
                pausedUntil = now + backoff.failed().wholeMilliseconds
            }
            becameDue(message.distribution, at: pausedUntil)
        }
    }

    /// There is room again, so messages that were left behind are claimed; but not one by one.
    private mutating func lookForBacklog(at now: UnixMilliseconds) {
        for distribution in Distribution.allCases {
            guard let look = looks[distribution], look.hasBacklog else { continue }
            looks[distribution]?.next = min(look.next, max(now, look.last + Self.pace))
        }
    }
}
