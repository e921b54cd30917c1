import Archive
import Schemas
import Base

/// Decides when the outbox claims due items, how many it relays at a time, and of which urgency. Pure: events in, decisions out.
///
/// - Urgent items go first. An eighth of the capacity is reserved for each urgency, so that a flood of Information never delays an
///   Alert, and a flood of Alerts never blocks Information.
/// - A fairness key may use at most half of the capacity, and only a few slots while FCM does not accept its items. So neither a
///   flooded key nor a failing one starves the others.
/// - While no relay of a transport answers, it tries one item of a queue at a time, waits longer after each failure, and returns to
///   normal after the first answer.
/// - Each queue (``OutboxQueue``) has its own claims and its own capacity, and each transport its own outages. A message whose parts for
///   both transports are due is handed to both in one turn if both can take it. Otherwise the other part waits in its queue.
struct OutboxStateMachine: Sendable {
    /// The next action of the outbox.
    enum Action: Hashable, Sendable {
        /// Claim due items, and report with ``claimed(_:for:at:)`` or ``claimFailed(_:at:)``.
        case claim(Claim)
        /// Wait until this time or the next event.
        case wait(until: UnixMilliseconds)
    }

    /// How an item's turn ended in a queue. A turn is one attempt to relay an item, from the claim to the stored outcome.
    enum Turn: Hashable, Sendable {
        /// A relay answered, and no component needs a retry.
        case settled
        /// A relay answered, and a component needs a retry.
        case deferred
        /// No relay accepted it.
        case unreachable
        /// A relay accepted it, and its answer was lost.
        case unanswered
        /// No relay was asked: the devices of the push's persons are not known.
        case unresolved
        /// No relay was asked: the deadline had passed.
        case expired
        /// No relay was asked: another process owned it by then, the lease could not be renewed, or it is a block of a recalled message.
        case dropped
    }

    /// The state of the claims for one urgency.
    private struct ClaimSchedule: Sendable {
        var next: UnixMilliseconds = 0
        /// When data becomes due that waits for pop-ups: it is not to wait for the claim of the next second. `nil` for none.
        var expected: UnixMilliseconds?
        var last: UnixMilliseconds = 0
        /// Whether the last claim may have left items behind because there was no room.
        var hasBacklog = false
        /// Whether a claim is running.
        var isRunning = false
        /// When a message became due during the running claim, which may have missed it.
        var missed: UnixMilliseconds?

        var due: UnixMilliseconds { min(next, expected ?? next) }
    }

    /// The state of a queue.
    private struct QueueState: Sendable {
        /// The items that are being relayed or about to be. Leases keep other instances away. This keeps the same process from
        /// relaying an item twice, even if its lease ends early because of a clock step, or an outage of the database.
        var inFlight: InFlightItems
        var schedules = PerUrgency(ClaimSchedule())
    }

    /// The failures of a transport.
    private struct Outage: Sendable {
        /// How long nothing is claimed after a failure.
        var backoff = Backoff(first: .milliseconds(100), max: Duration(OutboxStateMachine.maxPause))
        var pausedUntil: UnixMilliseconds = 0

        var isOngoing: Bool { backoff.failures > 0 }
    }

    /// The maximum number of items of a queue that are relayed at a time.
    let capacity: Int
    /// The interval of claims. They find retries, scheduled items, and items of a dead instance.
    static let claimInterval: Milliseconds = 1_000
    /// The minimum interval of claims while there is a backlog, so that each claim gets more than one item.
    static let minClaimInterval: Milliseconds = 10
    private static let maxPause: Milliseconds = 2_000
    /// How much longer the claim of other items must have been due to go before one of urgent items. Otherwise two queues of urgent items
    /// whose claims take long would leave no time for any other claim.
    private static let headStart: Milliseconds = 1_000
    /// A block has hundreds of recipients, so fewer of them make full use of a relay.
    private static let shareOfBlocks = 4

    /// The queues that are claimed: without Web Push only that of FCM.
    private let queues: [OutboxQueue]
    private var states: PerQueue<QueueState>
    private var outages = PerTransport(Outage())
    /// Items from a claim whose previous turn was just ending. They are leased again, and no process works on them.
    private var claimedAgain: [OutboxKey: (item: OutboxItem, queues: OutboxQueues)] = [:]
    /// Until when the loop waits; `nil` while it has not asked for its next action, or will ask again.
    private var waitsUntil: UnixMilliseconds?

    /// - Parameter transports: Those that are switched on.
    init(capacity: Int, transports: PushTransports = .fcm) {
        self.capacity = capacity
        // Without FCM, that of FCM has messages without any part, and what was logged before FCM was switched off.
        queues = transports.contains(.webpush) ? OutboxQueue.allCases : [.fcm]
        states = PerQueue(QueueState(inFlight: InFlightItems(capacity: capacity)))
        states[.blocks].inFlight = InFlightItems(capacity: max(1, capacity / Self.shareOfBlocks))
    }

    var keysInFlight: Set<OutboxKey> { queues.reduce(into: []) { $0.formUnion(states[$1].inFlight.keys) } }

    /// The queues whose room an item in flight takes up: by their transports it is relayed in this turn.
    func askedQueues(of key: OutboxKey) -> OutboxQueues {
        queues.reduce(into: []) { if states[$1].inFlight.contains(key) { $0.insert(OutboxQueues($1)) } }
    }

    /// Reserves room to relay a new item without a claim. Granted if there is room in one of its queues, relays of its transport answer,
    /// and no other item of its urgency is waiting in it.
    mutating func reserve(_ item: OutboxItem) -> Bool {
        let free = queues.filter { item.pendingQueues.contains(OutboxQueues($0)) && takesNew(item, in: $0) }
        return !free.isEmpty && begin(item, in: OutboxQueues(free))
    }

    private func takesNew(_ item: OutboxItem, in queue: OutboxQueue) -> Bool {
        let state = states[queue]
        return !outages[queue.transport].isOngoing && !state.schedules[item.urgency].hasBacklog
            && state.inFlight.hasRoom(for: item)
    }

    /// - Returns: `false` if it was in flight already.
    private mutating func begin(_ item: OutboxItem, in asked: OutboxQueues) -> Bool {
        guard askedQueues(of: item.key).isEmpty else { return false }
        for queue in queues where asked.contains(OutboxQueues(queue)) { states[queue].inFlight.begin(item) }
        return true
    }

    /// Cancels a reservation: the item was not new, or could not be stored.
    ///
    /// - Returns: The item, if a claim has returned it since. The caller must relay it.
    mutating func cancelReservation(of key: OutboxKey) -> OutboxItem? {
        for queue in queues { states[queue].inFlight.end(key) }
        return takeClaimedAgain(key)
    }

    /// An item that is not in flight became due.
    mutating func becameDue(_ urgency: Urgency, at now: UnixMilliseconds) {
        for queue in queues { becameDue(urgency, in: queue, at: now) }
    }

    private mutating func becameDue(_ urgency: Urgency, in queue: OutboxQueue, at now: UnixMilliseconds) {
        let schedule = states[queue].schedules[urgency]
        if schedule.isRunning {
            states[queue].schedules[urgency].missed = min(schedule.missed ?? now, now)
        } else {
            states[queue].schedules[urgency].next = min(schedule.next, now)
        }
    }

    /// An item becomes due whose data waits for pop-ups.
    ///
    /// - Parameter moment: Of several, the last one counts: all wait for the same pop-ups, and the claims of every second find the others.
    mutating func willBeDue(_ urgency: Urgency, at moment: UnixMilliseconds) {
        let known = states[.fcm].schedules[urgency].expected ?? moment
        // A time that is further away than any wait was set before the clock was set back.
        states[.fcm].schedules[urgency].expected = known - moment <= FanOutClock.maxWait ? max(known, moment) : moment
    }

    /// The next action. Of the claims that are due it is the one that has been due longest.
    func next(at now: UnixMilliseconds) -> Action {
        var earliest: UnixMilliseconds?
        var longest: (queue: OutboxQueue, urgency: Urgency, due: UnixMilliseconds)?
        // Urgent items first.
        for urgency in [Urgency.high, .normal] {
            // While a claim of urgent items is running, no other claim begins: its items go out first.
            if queues.contains(where: { states[$0].schedules[urgency].isRunning }) { break }
            for queue in queues {
                guard mayClaim(urgency, of: queue) else { continue }
                let moment = max(states[queue].schedules[urgency].due, outages[queue.transport].pausedUntil)
                // A time that is further away than any pause was set before the clock was set back.
                guard moment > now, moment <= now + Self.maxPause else {
                    let due = min(moment, now) + (urgency == .high ? 0 : Self.headStart)
                    if longest.map({ due < $0.due }) ?? true { longest = (queue, urgency, due) }
                    continue
                }
                earliest = min(earliest ?? moment, moment)
            }
        }
        if let longest { return .claim(claim(longest.urgency, of: longest.queue)) }
        return .wait(until: earliest ?? now + Self.claimInterval)
    }

    /// The next action. If it is a claim, the claim is running from now on: there is no other for its urgency until its
    /// result is reported.
    mutating func begin(at now: UnixMilliseconds) -> Action {
        let action = next(at: now)
        switch action {
        case .claim(let claim):
            states[claim.queue].schedules[claim.urgency].isRunning = true
            // What becomes due while the claim is running, it may miss.
            if let expected = states[claim.queue].schedules[claim.urgency].expected, expected <= now {
                states[claim.queue].schedules[claim.urgency].expected = nil
            }
        case .wait(let moment): waitsUntil = moment
        }
        return action
    }

    /// Whether the loop must ask for its next action: it waits, and there is something to do now, or earlier than it expects. Most
    /// turns change nothing of what the loop waits for, so they do not wake it.
    mutating func wakesLoop(at now: UnixMilliseconds) -> Bool {
        guard let waitsUntil else { return false }
        if case .wait(let moment) = next(at: now), moment >= waitsUntil { return false }
        self.waitsUntil = nil
        return true
    }

    private func mayClaim(_ urgency: Urgency, of queue: OutboxQueue) -> Bool {
        let inFlight = states[queue].inFlight
        return outages[queue.transport].isOngoing ? inFlight.isEmpty : inFlight.hasRoom(for: urgency)
    }

    private func claim(_ urgency: Urgency, of queue: OutboxQueue) -> Claim {
        outages[queue.transport].isOngoing
            ? Claim(urgency, of: queue, limit: 1, maxPerKey: 1) : states[queue].inFlight.claim(urgency, of: queue)
    }

    /// A claim has returned these items.
    ///
    /// - Returns: The items that are not in flight already.
    mutating func claimed(_ items: [OutboxItem], for claim: Claim, at now: UnixMilliseconds) -> [OutboxItem] {
        let byKey = Dictionary(grouping: items, by: \.fairnessKey)
        let isShort = claim.room.values.contains(0) || byKey.contains { $0.value.count >= claim.room(for: $0.key) }
        let isFull = items.count >= claim.limit
        let next = now + (isFull ? Self.minClaimInterval : Self.claimInterval)
        let schedule = states[claim.queue].schedules[claim.urgency]
        states[claim.queue].schedules[claim.urgency] = ClaimSchedule(
            next: min(next, schedule.missed ?? next), expected: schedule.expected, last: now, hasBacklog: isFull || isShort)
        return items.filter { item in
            let asked = queuesToAsk(for: item, claimedFrom: claim.queue, at: now)
            if begin(item, in: asked) { return true }
            claimedAgain[item.key] = (item, asked)
            return false
        }
    }

    /// The queues by whose transports a claimed item is relayed: that of the claim, and another one in which it is due and that can take
    /// it.
    private func queuesToAsk(for item: OutboxItem, claimedFrom queue: OutboxQueue, at now: UnixMilliseconds) -> OutboxQueues {
        guard queues.count > 1 else { return OutboxQueues(queue) }
        let due = item.dueQueues(at: now)
        let others = queues.filter { $0 != queue && due.contains(OutboxQueues($0)) && takesNew(item, in: $0) }
        return OutboxQueues([queue] + others)
    }

    /// A claim failed: the database is unreachable.
    mutating func claimFailed(_ claim: Claim, at now: UnixMilliseconds) {
        states[claim.queue].schedules[claim.urgency].next = now + Self.claimInterval
        states[claim.queue].schedules[claim.urgency].isRunning = false
        states[claim.queue].schedules[claim.urgency].missed = nil
    }

    /// An item's turn has ended.
    ///
    /// - Parameters:
    ///   - turn: How it ended.
    ///   - others: How it ended in queues in which it ended otherwise.
    ///   - item: As it was claimed.
    /// - Returns: The item, if a claim has returned it since. Its next turn begins, and must first check whether there is
    ///   anything left to do.
    mutating func finished(
        _ turn: Turn, in others: [OutboxQueue: Turn] = [:], of item: OutboxItem, at now: UnixMilliseconds
    ) -> OutboxItem? {
        let asked = askedQueues(of: item.key)
        for queue in queues where asked.contains(OutboxQueues(queue)) {
            states[queue].inFlight.end(item.key)
            learn(from: others[queue] ?? turn, of: item, in: queue, at: now)
        }
        if queues.count > 1 { noteSkipped(item.dueQueues(at: now).subtracting(asked), of: item, at: now) }
        return takeClaimedAgain(item.key)
    }

    /// The item is still due in some queues, which had no room for it.
    private mutating func noteSkipped(_ skipped: OutboxQueues, of item: OutboxItem, at now: UnixMilliseconds) {
        for queue in queues where skipped.contains(OutboxQueues(queue)) {
            states[queue].schedules[item.urgency].hasBacklog = true
            claimBacklog(of: queue, at: now)
        }
    }

    private mutating func takeClaimedAgain(_ key: OutboxKey) -> OutboxItem? {
        guard let again = claimedAgain.removeValue(forKey: key), begin(again.item, in: again.queues) else { return nil }
        return again.item
    }

    private mutating func learn(from turn: Turn, of item: OutboxItem, in queue: OutboxQueue, at now: UnixMilliseconds) {
        switch turn {
        case .dropped, .expired: claimBacklog(of: queue, at: now)
        // Only a few pushes of the key are tried at a time. It says nothing about the relays.
        case .unresolved:
            states[queue].inFlight.answered(for: item.fairnessKey, isDeferred: true)
            claimBacklog(of: queue, at: now)
        case .settled, .deferred:
            states[queue].inFlight.answered(for: item.fairnessKey, isDeferred: turn == .deferred)
            if outages[queue.transport].isOngoing {
                for other in queues where other.transport == queue.transport {
                    for urgency in Urgency.allCases { states[other].schedules[urgency].next = now }
                }
            } else {
                claimBacklog(of: queue, at: now)
            }
            outages[queue.transport].backoff.succeeded()
            outages[queue.transport].pausedUntil = 0
        case .unreachable, .unanswered:
            // Failures of concurrent turns count once.
            let pausedUntil = outages[queue.transport].pausedUntil
            if pausedUntil <= now || pausedUntil > now + Self.maxPause {
                outages[queue.transport].pausedUntil = now + Milliseconds(outages[queue.transport].backoff.failed())
            }
            becameDue(item.urgency, in: queue, at: outages[queue.transport].pausedUntil)
        }
    }

    /// There is room again, so items that were left behind are claimed. Claims have a minimum interval, so that each
    /// gets several items.
    private mutating func claimBacklog(of queue: OutboxQueue, at now: UnixMilliseconds) {
        for urgency in Urgency.allCases {
            let schedule = states[queue].schedules[urgency]
            guard schedule.hasBacklog else { continue }
            states[queue].schedules[urgency].next = min(schedule.next, max(now, schedule.last + Self.minClaimInterval))
        }
    }
}
