import MessageStorage
import Schemas

/// The messages that are being relayed, and the remaining room for each distribution and each topic. Pure.
struct InFlightMessages: Sendable {
    private struct Item: Sendable {
        let distribution: Distribution
        let topic: TopicKey
    }

    /// The maximum number of a topic's messages at a time while FCM does not accept them.
    static let roomWhileFailing = 4
    /// When there are this many failing topics, all are forgotten. They are then detected again.
    private static let maxFailing = 10_000

    private let capacity: Int
    /// The maximum for one distribution: an eighth is left to the other.
    private let maxPerDistribution: Int
    private let maxPerTopic: Int
    private var items: [ObjectID: Item] = [:]
    private var byDistribution: [Distribution: Int] = [:]
    private var byTopic: [TopicKey: Int] = [:]
    private var failing: Set<TopicKey> = []

    init(capacity: Int) {
        self.capacity = capacity
        maxPerDistribution = max(1, capacity - capacity / 8)
        maxPerTopic = max(1, capacity / 2)
    }

    var isEmpty: Bool { items.isEmpty }
    var msiKeys: Set<ObjectID> { Set(items.keys) }

    func hasRoom(for message: Message) -> Bool {
        room(for: message.distribution) > 0 && room(for: message.topicKey) > 0
    }

    /// The claim for one distribution; `nil` if there is no room.
    func claim(_ distribution: Distribution) -> Claim? {
        let limit = room(for: distribution)
        guard limit > 0 else { return nil }
        let limited = Set(byTopic.keys).union(failing)
        return Claim(
            distribution, limit: limit, maxPerTopic: maxPerTopic,
            room: Dictionary(uniqueKeysWithValues: limited.map { ($0, room(for: $0)) }))
    }

    /// - Returns: `false` if it was in flight already.
    mutating func begin(_ message: Message) -> Bool {
        guard items[message.msiKey] == nil else { return false }
        items[message.msiKey] = Item(distribution: message.distribution, topic: message.topicKey)
        byDistribution[message.distribution, default: 0] += 1
        byTopic[message.topicKey, default: 0] += 1
        return true
    }

    mutating func end(_ msiKey: ObjectID) {
        guard let item = items.removeValue(forKey: msiKey) else { return }
        byDistribution[item.distribution, default: 1] -= 1
        byTopic[item.topic, default: 1] -= 1
        if byTopic[item.topic] == 0 { byTopic[item.topic] = nil }
    }

    /// FCM has answered for a topic.
    mutating func answered(for topic: TopicKey, isDeferred: Bool) {
        if !isDeferred {
            failing.remove(topic)
        } else {
            if failing.count >= Self.maxFailing { failing = [] }
            failing.insert(topic)
        }
    }

    private func room(for distribution: Distribution) -> Int {
        min(capacity - items.count, maxPerDistribution - byDistribution[distribution, default: 0])
    }

    private func room(for topic: TopicKey) -> Int {
        let most = failing.contains(topic) ? min(maxPerTopic, Self.roomWhileFailing) : maxPerTopic
        return max(0, most - byTopic[topic, default: 0])
    }
}
