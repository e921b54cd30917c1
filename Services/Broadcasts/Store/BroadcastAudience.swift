import Schemas

/// The FCM topics and conditions that reach the phones of a broadcast, or of several versions of one.
struct BroadcastAudience: Codable, Hashable, Sendable {
    private(set) var topics: [String]
    private(set) var conditions: [String]

    /// The audience of one version.
    init(_ broadcast: Broadcast) {
        conditions = broadcast.recipients.filter { $0.field == .condition }.map(\.text)
        topics = broadcast.recipients.filter { $0.field == .topic }.map(\.text)
    }

    private init(topics: [String], conditions: [String]) {
        self.topics = topics
        self.conditions = conditions
    }

    func union(_ other: BroadcastAudience?) -> BroadcastAudience {
        guard let more = other?.subtracting(self) else { return self }
        return BroadcastAudience(topics: topics + more.topics, conditions: conditions + more.conditions)
    }

    func subtracting(_ other: BroadcastAudience) -> BroadcastAudience {
        BroadcastAudience(
            topics: topics.filter { !other.topics.contains($0) },
            conditions: conditions.filter { !other.conditions.contains($0) })
    }

    var recipients: [PushRecipient] { topics.map { .topic($0) } + conditions.map { .condition($0) } }
}

extension PushRecipient {
    /// A short name for idempotency keys.
    var key: String {
        guard case .condition(let condition) = self else { return text }
        return "condition-\(StableHash.text(of: condition.utf8))"
    }
}
