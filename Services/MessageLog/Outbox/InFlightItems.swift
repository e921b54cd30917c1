import MessageStorage
import Schemas

/// The items that are being relayed, and the remaining room for each urgency and each fairness key. Pure.
struct InFlightItems: Sendable {
    private struct Item: Sendable {
        let urgency: Urgency
        let key: FairnessKey
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
    private var byUrgency: [Urgency: Int] = [:]
    private var byKey: [FairnessKey: Int] = [:]
    private var failing: Set<FairnessKey> = []

    init(capacity: Int) {
        self.capacity = capacity
        maxPerUrgency = max(1, capacity - capacity / 8)
        maxPerKey = max(1, capacity / 2)
    }

    var isEmpty: Bool { items.isEmpty }
    var keys: Set<OutboxKey> { Set(items.keys) }

    func hasRoom(for item: OutboxItem) -> Bool {
        room(for: item.urgency) > 0 && room(for: item.fairnessKey) > 0
    }

    /// The claim for one urgency; `nil` if there is no room.
    func claim(_ urgency: Urgency) -> Claim? {
        let limit = room(for: urgency)
        guard limit > 0 else { return nil }
        let limited = Set(byKey.keys).union(failing)
        return Claim(
            urgency, limit: limit, maxPerKey: maxPerKey,
            room: Dictionary(uniqueKeysWithValues: limited.map { ($0, room(for: $0)) }))
    }

    /// - Returns: `false` if it was in flight already.
    mutating func begin(_ item: OutboxItem) -> Bool {
        guard items[item.key] == nil else { return false }
        items[item.key] = Item(urgency: item.urgency, key: item.fairnessKey)
        byUrgency[item.urgency, default: 0] += 1
        byKey[item.fairnessKey, default: 0] += 1
        return true
    }

    mutating func end(_ key: OutboxKey) {
        guard let item = items.removeValue(forKey: key) else { return }
        byUrgency[item.urgency, default: 1] -= 1
        byKey[item.key, default: 1] -= 1
        if byKey[item.key] == 0 { byKey[item.key] = nil }
    }

    /// FCM has answered for a key.
    mutating func answered(for key: FairnessKey, isDeferred: Bool) {
        if !isDeferred {
            failing.remove(key)
        } else {
            if failing.count >= Self.maxFailing { failing = [] }
            failing.insert(key)
        }
    }

    private func room(for urgency: Urgency) -> Int {
        min(capacity - items.count, maxPerUrgency - byUrgency[urgency, default: 0])
    }

    private func room(for key: FairnessKey) -> Int {
        let most = failing.contains(key) ? min(maxPerKey, Self.roomWhileFailing) : maxPerKey
        return max(0, most - byKey[key, default: 0])
    }
}
