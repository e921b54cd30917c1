import Archive
import Schemas
import Base

/// Decides when the outbox claims due items, how many it relays at a time, and of which urgency. Pure: events in, decisions out.
///
/// - Urgent items go first. An eighth of the capacity is reserved for each urgency, so that a flood of Information never delays an
///   Alert, and a flood of Alerts never blocks Information.
/// - A fairness key may use at most half of the capacity, and only a few slots while FCM does not accept its items. So neither a
///   flooded key nor a failing one starves the others.
/// - While no relay answers, it tries one item at a time, waits longer after each failure, and returns to normal
///   after the first answer.
struct OutboxStateMachine: Sendable {
    /// The next action of the outbox.
    enum Action: Hashable, Sendable {
        /// Claim due items, and report with ``claimed(_:for:at:)`` or ``claimFailed(_:at:)``.
        case claim(Claim)
        /// Wait until this time or the next event.
        case wait(until: UnixMilliseconds)
    }

    /// How an item's turn ended. A turn is one attempt to relay an item, from the claim to the stored outcome.
    enum Turn: Hashable, Sendable {
        /// A relay answered, and no component needs a retry.
        case settled
        /// A relay answered, and a component needs a retry.
        case deferred
        /// No relay accepted it.
        case unreachable
        /// A relay accepted it, and its answer was lost.
        case unanswered
        /// No relay was asked: the deadline had passed.
        case expired
        /// No relay was asked: another process owned it by then, or the lease could not be renewed.
        case dropped
    }

    /// The state of the claims for one urgency.
    private struct ClaimSchedule: Sendable {
        var next: UnixMilliseconds = 0
        var last: UnixMilliseconds = 0
        /// Whether the last claim may have left items behind because there was no room.
        var hasBacklog = false
        /// Whether a claim is running.
        var isRunning = false
        /// When a message became due during the running claim, which may have missed it.
        var missed: UnixMilliseconds?
    }

    /// The maximum number of items that are relayed at a time.
    let capacity: Int
    /// The interval of claims. They find retries, scheduled items, and items of a dead instance.
    static let claimInterval: Milliseconds = 1_000
    /// The minimum interval of claims while there is a backlog, so that each claim gets more than one item.
    static let minClaimInterval: Milliseconds = 10
    private static let maxPause: Milliseconds = 2_000

    /// The items that are being relayed or about to be. Leases keep other instances away. This keeps the same process from
    /// relaying an item twice, even if its lease ends early because of a clock step, or an outage of the database.
    private var inFlight: InFlightItems
    /// Items from a claim whose previous turn was just ending. They are leased again, and no process works on them.
    private var claimedAgain: [OutboxKey: OutboxItem] = [:]
    private var schedules = PerUrgency(ClaimSchedule())
    /// How long nothing is claimed after a failure.
    private var backoff = Backoff(first: .milliseconds(100), max: Duration(maxPause))
    private var pausedUntil: UnixMilliseconds = 0
    /// Until when the loop waits; `nil` while it has not asked for its next action, or will ask again.
    private var waitsUntil: UnixMilliseconds?

    init(capacity: Int) {
        self.capacity = capacity
        inFlight = InFlightItems(capacity: capacity)
    }

    var keysInFlight: Set<OutboxKey> { inFlight.keys }

    /// Reserves room to relay a new item without a claim. Granted if there is room, relays answer, and no other item of its
    /// urgency is waiting.
    mutating func reserve(_ item: OutboxItem) -> Bool {
        guard backoff.failures == 0, !schedules[item.urgency].hasBacklog, inFlight.hasRoom(for: item) else {
            return false
        }
        return inFlight.begin(item)
    }

    /// Cancels a reservation: the item was not new, or could not be stored.
    ///
    /// - Returns: The item, if a claim has returned it since. The caller must relay it.
    mutating func cancelReservation(of key: OutboxKey) -> OutboxItem? {
        inFlight.end(key)
        return takeClaimedAgain(key)
    }

    /// An item that is not in flight became due.
    mutating func becameDue(_ urgency: Urgency, at now: UnixMilliseconds) {
        let schedule = schedules[urgency]
        if schedule.isRunning {
            schedules[urgency].missed = min(schedule.missed ?? now, now)
        } else {
            schedules[urgency].next = min(schedule.next, now)
        }
    }

    /// The next action.
    func next(at now: UnixMilliseconds) -> Action {
        var earliest: UnixMilliseconds?
        // Urgent items first.
        for urgency in [Urgency.high, .normal] {
            let schedule = schedules[urgency]
            // While a claim of urgent items is running, no other claim begins: its items go out first.
            if schedule.isRunning { break }
            guard mayClaim(urgency) else { continue }
            let moment = max(schedule.next, pausedUntil)
            // A time that is further away than any pause was set before the clock was set back.
            guard moment > now, moment <= now + Self.maxPause else { return .claim(claim(urgency)) }
            earliest = min(earliest ?? moment, moment)
        }
        return .wait(until: earliest ?? now + Self.claimInterval)
    }

    /// The next action. If it is a claim, the claim is running from now on: there is no other for its urgency until its
    /// result is reported.
    mutating func begin(at now: UnixMilliseconds) -> Action {
        let action = next(at: now)
        switch action {
        case .claim(let claim): schedules[claim.urgency].isRunning = true
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

    private func mayClaim(_ urgency: Urgency) -> Bool {
        backoff.failures == 0 ? inFlight.hasRoom(for: urgency) : inFlight.isEmpty
    }

    private func claim(_ urgency: Urgency) -> Claim {
        backoff.failures == 0 ? inFlight.claim(urgency) : Claim(urgency, limit: 1, maxPerKey: 1)
    }

    /// A claim has returned these items.
    ///
    /// - Returns: The items that are not in flight already.
    mutating func claimed(_ items: [OutboxItem], for claim: Claim, at now: UnixMilliseconds) -> [OutboxItem] {
        let byKey = Dictionary(grouping: items, by: \.fairnessKey)
        let isShort = claim.room.values.contains(0) || byKey.contains { $0.value.count >= claim.room(for: $0.key) }
        let isFull = items.count >= claim.limit
        let next = now + (isFull ? Self.minClaimInterval : Self.claimInterval)
        schedules[claim.urgency] = ClaimSchedule(
            next: min(next, schedules[claim.urgency].missed ?? next), last: now, hasBacklog: isFull || isShort)
        return items.filter { item in
            if inFlight.begin(item) { return true }
            claimedAgain[item.key] = item
            return false
        }
    }

    /// A claim failed: the database is unreachable.
    mutating func claimFailed(_ claim: Claim, at now: UnixMilliseconds) {
        schedules[claim.urgency].next = now + Self.claimInterval
        schedules[claim.urgency].isRunning = false
        schedules[claim.urgency].missed = nil
    }

    /// An item's turn has ended.
    ///
    /// - Returns: The item, if a claim has returned it since. Its next turn begins, and must first check whether there is
    ///   anything left to do.
    mutating func finished(_ turn: Turn, of item: OutboxItem, at now: UnixMilliseconds) -> OutboxItem? {
        inFlight.end(item.key)
        learn(from: turn, of: item, at: now)
        return takeClaimedAgain(item.key)
    }

    private mutating func takeClaimedAgain(_ key: OutboxKey) -> OutboxItem? {
        guard let again = claimedAgain.removeValue(forKey: key), inFlight.begin(again) else { return nil }
        return again
    }

    private mutating func learn(from turn: Turn, of item: OutboxItem, at now: UnixMilliseconds) {
        switch turn {
        case .dropped, .expired: claimBacklog(at: now)
        case .settled, .deferred:
            inFlight.answered(for: item.fairnessKey, isDeferred: turn == .deferred)
            if backoff.failures > 0 {
                for urgency in Urgency.allCases { schedules[urgency].next = now }
            } else {
                claimBacklog(at: now)
            }
            backoff.succeeded()
            pausedUntil = 0
        case .unreachable, .unanswered:
            // Failures of concurrent turns count once.
            if pausedUntil <= now || pausedUntil > now + Self.maxPause {
                pausedUntil = now + Milliseconds(backoff.failed())
            }
            becameDue(item.urgency, at: pausedUntil)
        }
    }

    /// There is room again, so items that were left behind are claimed. Claims have a minimum interval, so that each
    /// gets several items.
    private mutating func claimBacklog(at now: UnixMilliseconds) {
        for urgency in Urgency.allCases {
            let schedule = schedules[urgency]
            guard schedule.hasBacklog else { continue }
            schedules[urgency].next = min(schedule.next, max(now, schedule.last + Self.minClaimInterval))
        }
    }
}

/// A value for each urgency.
private struct PerUrgency<Value: Sendable>: Sendable {
    private var high: Value
    private var normal: Value

    init(_ value: Value) {
        high = value
        normal = value
    }

    subscript(urgency: Urgency) -> Value {
        get {
            switch urgency {
            case .high: high
            case .normal: normal
            }
        }
        set {
            switch urgency {
            case .high: high = newValue
            case .normal: normal = newValue
            }
        }
    }
}

/// The items that are being relayed, and the remaining room for each urgency and each fairness key. Pure.
///
/// Everything is counted as it changes: this is asked for every message, and thousands of keys may be in flight or failing.
struct InFlightItems: Sendable {
    private struct Item: Sendable {
        let urgency: Urgency
        let key: FairnessKey
    }

    /// A key with items in flight, or that is failing.
    private struct Key: Sendable {
        var count = 0
        var isFailing = false
    }

    /// The maximum number of a key's items at a time while FCM does not accept them.
    static let roomWhileFailing = 4
    /// When there are this many failing keys, all are forgotten. They are then detected again.
    private static let maxFailing = 10_000

    private let capacity: Int
    /// The maximum for one urgency: an eighth is left to the other.
    private let maxPerUrgency: Int
    private let maxPerKey: Int
    private var items: [OutboxKey: Item] = [:]
    private var byUrgency = PerUrgency(0)
    private var byKey: [FairnessKey: Key] = [:]
    private var failingKeys = 0

    init(capacity: Int) {
        self.capacity = capacity
        maxPerUrgency = max(1, capacity - capacity / 8)
        maxPerKey = max(1, capacity / 2)
    }

    var isEmpty: Bool { items.isEmpty }
    var keys: Set<OutboxKey> { Set(items.keys) }

    func hasRoom(for urgency: Urgency) -> Bool { room(for: urgency) > 0 }

    func hasRoom(for item: OutboxItem) -> Bool {
        hasRoom(for: item.urgency) && byKey[item.fairnessKey].map { room(for: $0) > 0 } ?? true
    }

    /// The claim for one urgency that has room.
    func claim(_ urgency: Urgency) -> Claim {
        Claim(urgency, limit: room(for: urgency), maxPerKey: maxPerKey, room: byKey.mapValues { room(for: $0) })
    }

    /// - Returns: `false` if it was in flight already.
    mutating func begin(_ item: OutboxItem) -> Bool {
        guard items[item.key] == nil else { return false }
        let (urgency, key) = (item.urgency, item.fairnessKey)
        items[item.key] = Item(urgency: urgency, key: key)
        byUrgency[urgency] += 1
        byKey[key, default: Key()].count += 1
        return true
    }

    mutating func end(_ key: OutboxKey) {
        guard let item = items.removeValue(forKey: key) else { return }
        byUrgency[item.urgency] -= 1
        change(item.key) { $0.count -= 1 }
    }

    /// FCM has answered for a key.
    mutating func answered(for key: FairnessKey, isDeferred: Bool) {
        guard byKey[key]?.isFailing ?? false != isDeferred else { return }
        if isDeferred, failingKeys >= Self.maxFailing {
            for key in byKey.keys { change(key) { $0.isFailing = false } }
            failingKeys = 0
        }
        failingKeys += isDeferred ? 1 : -1
        change(key) { $0.isFailing = isDeferred }
    }

    /// Changes a key, and forgets it if it has neither items in flight nor fails.
    private mutating func change(_ key: FairnessKey, _ change: (inout Key) -> Void) {
        var changed = byKey[key] ?? Key()
        change(&changed)
        byKey[key] = changed.count > 0 || changed.isFailing ? changed : nil
    }

    private func room(for urgency: Urgency) -> Int {
        min(capacity - items.count, maxPerUrgency - byUrgency[urgency])
    }

    private func room(for key: Key) -> Int {
        let most = key.isFailing ? min(maxPerKey, Self.roomWhileFailing) : maxPerKey
        return max(0, most - key.count)
    }
}
