import Archive
import Schemas

/// A value for each urgency.
struct PerUrgency<Value: Sendable>: Sendable {
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

    func contains(_ key: OutboxKey) -> Bool { items[key] != nil }

    var keys: Set<OutboxKey> { Set(items.keys) }

    func hasRoom(for urgency: Urgency) -> Bool { room(for: urgency) > 0 }

    func hasRoom(for item: OutboxItem) -> Bool {
        hasRoom(for: item.urgency) && byKey[item.fairnessKey].map { room(for: $0) > 0 } ?? true
    }

    /// The claim for one urgency that has room.
    func claim(_ urgency: Urgency, of queue: OutboxQueue = .fcm) -> Claim {
        Claim(urgency, of: queue, limit: room(for: urgency), maxPerKey: maxPerKey, room: byKey.mapValues { room(for: $0) })
    }

    /// - Returns: `false` if it was in flight already.
    @discardableResult
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
