import MongoDatabase
import Schemas

/// A collection with an outbox: the documents with a next attempt.
struct OutboxCollection: Sendable {
    let name: String
    /// The field with the identifier that callers use.
    let keyField: String
    let urgencyField: String
    let fairnessField: String
    let urgencyValue: @Sendable (Urgency) -> BSONValue

    static let messages = OutboxCollection(
        name: MessageCollection.name, keyField: "msi_key", urgencyField: "distribution", fairnessField: "topic_key",
        urgencyValue: { Distribution($0).bson })
    static let pushes = OutboxCollection(
        name: PushCollection.name, keyField: "_id", urgencyField: "urgency", fairnessField: "fairness_key",
        urgencyValue: { $0.bson })
    static let all = [messages, pushes]

    /// The collection of a key's items, and the key as it is stored.
    static func of(_ key: FairnessKey) -> (collection: OutboxCollection, value: BSONValue) {
        switch key {
        case .topic(let topic): (messages, topic.bson)
        case .named(let name): (pushes, name.bson)
        }
    }

    /// Its indexes. They contain only documents that are still to be relayed, so they stay small.
    var indexes: [BSONDocument] {
        [
            index("expiry", ["expires"]), index("due", [urgencyField, "relay.next_attempt"]),
            // The name is older than pushes.
            index("due of topic", [urgencyField, fairnessField, "relay.next_attempt"]),
        ]
    }

    private func index(_ name: String, _ keys: [String]) -> BSONDocument {
        [
            "name": .string(name), "key": .document(BSONDocument(keys.map { ($0, 1) })),
            "partialFilterExpression": ["relay.next_attempt": ["$gte": .int64(0)]],
        ]
    }

    /// The filter for due documents.
    func due(_ urgency: Urgency, _ now: UnixMilliseconds) -> BSONDocument {
        [urgencyField: urgencyValue(urgency), "relay.next_attempt": Self.dueTime(now)]
    }

    /// The lower bound is part of the indexes' filter. Without it the server does not use them.
    static func dueTime(_ now: UnixMilliseconds) -> BSONValue {
        ["$gte": .int64(0), "$lte": now.bson]
    }
}
