import MongoDatabase
import Schemas
import Time
import UnreadableDocuments

/// A collection with an outbox: the documents with a next attempt.
struct OutboxCollection: Sendable {
    let name: String
    /// The field with the identifier that callers use.
    let keyField: String
    let urgencyField: String
    let fairnessField: String
    let urgencyValue: @Sendable (Urgency) -> BSONValue
    /// The index for due documents in the order of time.
    let timeIndex: (name: String, keys: [String])

    static let messages = OutboxCollection(
        name: MessageCollection.name, keyField: "msi_key", urgencyField: "distribution", fairnessField: "topic_key",
        urgencyValue: { Distribution($0).bson }, timeIndex: ("due", ["distribution", "relay.next_attempt"]))
    static let pushes = OutboxCollection(
        name: PushCollection.name, keyField: "_id", urgencyField: "urgency", fairnessField: "fairness_key",
        urgencyValue: { $0.bson },
        // It contains the fairness key and the identifier, so that a search among many keys reads only the index.
        timeIndex: ("due by time", ["urgency", "relay.next_attempt", "fairness_key", "_id"]))
    static let all = [messages, pushes]

    /// The collection of a key's items.
    static func of(_ key: FairnessKey) -> OutboxCollection {
        switch key {
        case .topic: messages
        case .named: pushes
        }
    }

    /// Its indexes. They contain only documents that are still to be relayed, so they stay small.
    var indexes: [BSONDocument] {
        [
            index("expiry", ["expires"]), index(timeIndex.name, timeIndex.keys),
            // The name is older than pushes.
            index("due of topic", [urgencyField, fairnessField, "relay.next_attempt"]),
        ]
    }

    private func index(_ name: String, _ keys: [String]) -> BSONDocument {
        [
            "name": .string(name), "key": .document(BSONDocument(keys.map { ($0, 1) })),
            "partialFilterExpression": ["relay.next_attempt": Self.outstanding],
        ]
    }

    /// The filter for due documents.
    func due(_ urgency: Urgency, _ now: UnixMilliseconds) -> BSONDocument {
        [urgencyField: urgencyValue(urgency), "relay.next_attempt": Self.dueTime(now)]
    }

    /// The condition for `relay.next_attempt` in documents that have not ended. It is the filter of the indexes: the server uses
    /// them only for queries with this condition.
    static let outstanding: BSONValue = ["$gte": .int64(0)]

    /// The condition for `relay.next_attempt` in due documents.
    static func dueTime(_ now: UnixMilliseconds) -> BSONValue {
        ["$gte": .int64(0), "$lt": (now + 1).bson]
    }
}

extension OutboxCollection {
    /// Reads the item of a document.
    func item(_ document: BSONDocument) throws -> OutboxItem {
        name == PushCollection.name
            ? .push(try PushDocument(document).push) : .message(try MessageDocument(document).message)
    }
}

/// How unreadable documents of each collection are treated.
struct UnreadableItems: Sendable {
    let messages: UnreadableDocuments
    let pushes: UnreadableDocuments

    func of(_ collection: OutboxCollection) -> UnreadableDocuments {
        collection.name == PushCollection.name ? pushes : messages
    }
}
