package import Schemas

/// The queues of the outbox. A message may be in two of them: its parts for FCM and the one for Web Push are due at different times, so
/// that neither transport waits for the other.
package enum OutboxQueue: UInt8, CaseIterable, Hashable, Sendable {
    /// Messages whose parts for FCM are due, and pushes for FCM. Messages without any part as well.
    case fcm
    /// Messages whose part for Web Push is due.
    case fanOuts
    /// Pushes for Web Push: the blocks of subscriptions into which messages are divided.
    case blocks

    package var transport: PushTransport {
        switch self {
        case .fcm: .fcm
        case .fanOuts, .blocks: .webpush
        }
    }
}

/// A request for due items: how many the outbox has room for.
package struct Claim: Hashable, Sendable {
    package let queue: OutboxQueue
    package var urgency: Urgency
    /// The maximum number of items.
    package var limit: Int
    /// The maximum number of items of one fairness key that is not in ``room``.
    package var maxPerKey: Int
    /// The maximum for keys whose limit is lower than ``maxPerKey``; 0 claims none of them.
    package var room: [FairnessKey: Int]

    package init(
        _ urgency: Urgency, of queue: OutboxQueue = .fcm, limit: Int, maxPerKey: Int, room: [FairnessKey: Int] = [:]
    ) {
        self.queue = queue
        self.urgency = urgency
        self.limit = limit
        self.maxPerKey = maxPerKey
        self.room = room
    }

    /// The maximum number of items of one key.
    package func room(for key: FairnessKey) -> Int {
        min(limit, room[key] ?? maxPerKey)
    }
}

/// The error of a claim that failed after it had leased some items.
package struct PartialClaim: Error {
    /// The leased items.
    package let items: [OutboxItem]
    /// Why it has not leased more.
    package let cause: any Error

    package init(items: [OutboxItem], cause: any Error) {
        self.items = items
        self.cause = cause
    }
}

/// Divides the room of a claim among the keys with due items. It works in rounds with equal shares, until the room is used up or
/// no key has more. So one flooded key does not delay the others. Pure.
///
/// Call ``next()``, take up to that many items of the key, and report their number with ``brought(_:)``.
struct FairShare {
    private var remaining: Int
    /// The keys that may have more items, and the room for each.
    private var round: ArraySlice<(key: FairnessKey, room: Int)>
    private var nextRound: [(key: FairnessKey, room: Int)] = []
    private var share: Int
    private var asked: (key: FairnessKey, room: Int, count: Int)?

    /// - Parameter keys: The keys with due items, the longest waiting first.
    init(of claim: Claim, among keys: [FairnessKey]) {
        remaining = claim.limit
        round = keys.map { ($0, claim.room(for: $0)) }.filter { $0.1 > 0 }[...]
        share = Self.share(of: remaining, among: round.count)
    }

    /// The next key, and the maximum number of items to take.
    mutating func next() -> (key: FairnessKey, count: Int)? {
        if round.isEmpty {
            round = nextRound[...]
            nextRound = []
            share = Self.share(of: remaining, among: round.count)
        }
        guard remaining > 0, let (key, room) = round.popFirst() else { return nil }
        let count = min(share, room, remaining)
        asked = (key, room, count)
        return (key, count)
    }

    /// Reports how many items of the key there were.
    mutating func brought(_ count: Int) {
        guard let asked else { return }
        remaining -= count
        // A topic that used up its share may have more.
        if count == asked.count, asked.room > count { nextRound.append((asked.key, asked.room - count)) }
        self.asked = nil
    }

    private static func share(of room: Int, among keys: Int) -> Int {
        keys == 0 ? 0 : max(1, room / keys)
    }
}
