import MessageStorage
import Schemas

/// Decides when the outbox looks for due messages, how many it may relay at a time, and of which kinds. Pure: events in,
/// decisions out.
///
/// Alerts go before information, and each kind leaves an eighth of the room to the other: a storm of information never makes
/// an alert wait, and one of alerts never stops information altogether. A topic may take up half of the room, and only a few
/// places while FCM does not accept what it is sent for it; so neither a flooded topic nor a failing one starves the others.
///
/// While no relay answers, it does not hand every due message to nobody: it tries with one message, waits longer after each
/// failure, and opens up again with the first answer.
struct OutboxStateMachine: Sendable {
    /// What the outbox has to do next.
    enum Action: Hashable, Sendable {
        /// Claim due messages, and report with ``claimed(_:for:at:)`` or ``claimFailed(_:at:)``.
        case claim(Claim)
        /// Nothing before this moment, or before something happens.
        case wait(until: UnixMilliseconds)
    }

    /// How a message's turn ended.
    enum Turn: Hashable, Sendable {
        /// A relay answered, and nothing is left to be tried again.
        case settled
        /// A relay answered that something has to be tried again.
        case deferred
        /// No relay took the message.
        case unreachable
        /// A relay took the message, and its answer was lost.
        case unanswered
        /// No relay was asked: the deadline had passed.
        case expired
        /// No relay was asked: the message belonged to another process by then.
        case dropped
    }

    /// The looks for due messages of one kind.
    private struct Looks: Sendable {
        var next: UnixMilliseconds = 0
        var last: UnixMilliseconds = 0
        /// Whether the last one left something behind for want of room.
        var hasBacklog = false
        /// Whether one is under way.
        var isUnderWay = false
        /// When something became due meanwhile, which that one may not have seen.
        var missed: UnixMilliseconds?
    }

    /// The most messages that are being relayed at a time.
    let capacity: Int
    /// How often to look for messages that became due: retries, scheduled ones, and what another instance left behind.
    static let period: Int64 = 1_000
    /// The least time between looks where there is more to do, so that each brings more than one message.
    static let pace: Int64 = 10
    private static let firstPause: Int64 = 100
    private static let maxPause: Int64 = 2_000

    /// The messages that are being relayed, or are about to be. Leases keep other instances away; this keeps this one from
    /// taking a message twice, whatever becomes of a lease: clocks are set, and databases are away for longer than a lease.
    private var work: InFlightMessages
    /// Messages that a claim has brought while their turn was just ending: they are leased again, and no process is at work on them.
    private var claimedAgain: [ObjectID: Message] = [:]
    private var looks: [Distribution: Looks] = [.alert: Looks(), .information: Looks()]
    private var failuresInARow = 0
    private var pausedUntil: UnixMilliseconds = 0

    init(capacity: Int) {
        self.capacity = capacity
        work = InFlightMessages(capacity: capacity)
    }

    var atWork: Set<ObjectID> { work.msiKeys }

    /// Asks to relay a message that is just being logged, without a claim. Granted while there is room for it, relays answer,
    /// and none of its kind waits already.
    mutating func reserve(_ message: Message) -> Bool {
        guard failuresInARow == 0, looks[message.distribution]?.hasBacklog == false, work.hasRoom(for: message) else {
            return false
        }
        return work.begin(message)
    }

    /// Gives a reservation back: the message was not new, or could not be stored.
    ///
    /// - Returns: The message, if a claim has brought it meanwhile: it is to be relayed.
    mutating func cancelReservation(of msiKey: ObjectID) -> Message? {
        work.end(msiKey)
        return takeClaimedAgain(msiKey)
    }

    /// A message became due that nobody is at work on.
    mutating func becameDue(_ distribution: Distribution, at now: UnixMilliseconds) {
        guard let look = looks[distribution] else { return }
        if look.isUnderWay {
            looks[distribution]?.missed = min(look.missed ?? now, now)
        } else {
            looks[distribution]?.next = min(look.next, now)
        }
    }

    /// What to do now.
    func next(at now: UnixMilliseconds) -> Action {
        var earliest: UnixMilliseconds?
        // Alerts first.
        for distribution in [Distribution.alert, .information] {
            guard let look = looks[distribution] else { continue }
            // What a claim of alerts brings goes out before anything that is claimed after it.
            if look.isUnderWay { break }
            guard let claim = claim(distribution) else { continue }
            let moment = max(look.next, pausedUntil)
            // A moment that is further away than any pause was set before the clock was set back.
            guard moment > now, moment <= now + Self.maxPause else { return .claim(claim) }
            earliest = min(earliest ?? moment, moment)
        }
        return .wait(until: earliest ?? now + Self.period)
    }

    /// The same, and a claim is under way from then on: there is no other of its kind until it has been reported.
    mutating func begin(at now: UnixMilliseconds) -> Action {
        let action = next(at: now)
        if case .claim(let claim) = action { looks[claim.distribution]?.isUnderWay = true }
        return action
    }

    private func claim(_ distribution: Distribution) -> Claim? {
        guard failuresInARow == 0 else {
            return work.isEmpty ? Claim(distribution, limit: 1, maxPerTopic: 1) : nil
        }
        return work.claim(distribution)
    }

    /// A claim has brought these messages.
    ///
    /// - Returns: Those that are not at work already.
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

    /// A claim failed: the database is away.
    mutating func claimFailed(_ claim: Claim, at now: UnixMilliseconds) {
        looks[claim.distribution]?.next = now + Self.period
        looks[claim.distribution]?.isUnderWay = false
        looks[claim.distribution]?.missed = nil
    }

    /// A message's turn has ended.
    ///
    /// - Returns: The message, if a claim has brought it meanwhile: its next turn begins, and has to find out first whether there
    ///   is anything left to do.
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
            if failuresInARow > 0 {
                for distribution in Distribution.allCases { looks[distribution]?.next = now }
            } else {
                lookForBacklog(at: now)
            }
            failuresInARow = 0
            pausedUntil = 0
        case .unreachable, .unanswered:
            // Those that were under way together failed together: they count once.
            if pausedUntil <= now || pausedUntil > now + Self.maxPause {
                let doublings = min(failuresInARow, 10)
                pausedUntil = now + min(Self.maxPause, Self.firstPause << doublings)
                failuresInARow += 1
            }
            becameDue(message.distribution, at: pausedUntil)
        }
    }

    /// There is room again: what was left behind for want of it is looked for, though not for each message by itself.
    private mutating func lookForBacklog(at now: UnixMilliseconds) {
        for distribution in Distribution.allCases {
            guard let look = looks[distribution], look.hasBacklog else { continue }
            looks[distribution]?.next = min(look.next, max(now, look.last + Self.pace))
        }
    }
}
