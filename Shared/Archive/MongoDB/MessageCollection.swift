import Logging
import Store
import Schemas
import Synchronization

/// The `message` collection (seed, "Schema") and its indexes.
enum MessageCollection {
    static let name = "message"

    /// Creates missing indexes.
    ///
    /// - Parameter duplicates: Notified if a unique index cannot be made, because another program has stored a message twice.
    static func prepare(_ connection: MongoConnection, _ duplicates: DuplicateMessages) throws {
        try create(indexes, connection)
        for (index, substitute) in uniqueIndexes {
            do {
                try create([index], connection)
            } catch let error as MongoError where error.code == .duplicateKey {
                duplicates.found(error)
                try create([substitute], connection)
            }
        }
    }

    private static func create(_ indexes: [BSONDocument], _ connection: MongoConnection) throws {
        _ = try connection.write([
            "createIndexes": .string(name), "indexes": .array(indexes.map { .document($0) }),
        ])
    }

    /// The unique indexes, each with a non-unique substitute for the time while duplicates exist.
    private static var uniqueIndexes: [(BSONDocument, substitute: BSONDocument)] {
        let hasKey: BSONValue = ["idempotency_key": ["$gt": ""]]
        return [
            (
                ["name": "key", "key": ["msi_key": 1], "unique": true],
                ["name": "key of several", "key": ["msi_key": 1, "_id": 1]]
            ),
            (
                [
                    "name": "idempotency", "key": ["sender": 1, "idempotency_key": 1], "unique": true,
                    "partialFilterExpression": hasKey,
                ],
                [
                    "name": "idempotency of several", "key": ["sender": 1, "idempotency_key": 1, "_id": 1],
                    "partialFilterExpression": hasKey,
                ]
            ),
        ]
    }

    /// Every index for pages ends with the order of the archive, so that a page costs the same in an archive of any size.
    private static var indexes: [BSONDocument] {
        [
            history("history", []),
            history("channel", ["topic.channel"]), history("area", ["topic.area"]), history("subject", ["topic.subject"]),
            history("sender", ["sender"]), history("state", ["relay.state"]), history("search words", [words]),
            // For statistics, which need nothing else of most messages.
            ["name": "statistics", "key": ["timestamp": 1, "relay.state": 1]],
            [
                "name": "statistics by end", "key": ["relay.ended": 1, "relay.state": 1],
                "partialFilterExpression": ["relay.ended": ["$gte": 0]],
            ],
            [
                "name": "acceptance", "key": ["relay.accepted": 1],
                "partialFilterExpression": ["relay.accepted": ["$gte": 0]],
            ],
            [
                // Readers of a few topics pay for no other topic's messages.
                "name": .string(topicAcceptanceIndex), "key": ["topic_key": 1, "relay.accepted": 1, "msi_key": 1],
                "partialFilterExpression": ["relay.accepted": ["$gte": 0]],
            ],
            [
                // Only what is still to be relayed, by topic: of many Alerts in an outage only the newest ones are read.
                "name": .string(waitingIndex),
                "key": ["distribution": 1, "topic_key": 1, "timestamp": -1, "relay.next_attempt": 1],
                "partialFilterExpression": [
                    "distribution": Distribution.alert.bson, "relay.next_attempt": OutboxCollection.outstanding,
                ],
            ],
            [
                // Few: gateways ask for them several times a second.
                "name": .string(recalledIndex), "key": ["relay.ended": 1],
                "partialFilterExpression": [
                    "relay.state": RelayState.recalled.bson, "distribution": Distribution.alert.bson,
                ],
            ],
            ["name": "follows", "key": ["follows": 1], "sparse": true],
            ["name": "trace", "key": ["traceparent": 1], "sparse": true],
            [
                "name": .string(auditIndex), "key": ["msi_key": 1, "audit.id": 1],
                "partialFilterExpression": ["audit.id": isPending],
            ],
        ] + OutboxCollection.messages.indexes + OutboxCollection.fanOuts.indexes
    }

    /// The index of the messages that phones fetch.
    static let topicAcceptanceIndex = "acceptance of topic"

    /// The index of the Alerts that are still to be relayed.
    static let waitingIndex = "waiting alerts"

    /// The index of the Alerts that were recalled.
    static let recalledIndex = "recalled alerts"

    /// The index of messages with entries for the audit log.
    static let auditIndex = "audit"

    /// The condition for `audit.id` in messages with entries for the audit log.
    static let isPending: BSONValue = ["$gte": ObjectID.lowest]

    private static func history(_ name: String, _ keys: [String]) -> BSONDocument {
        let order = [("timestamp", BSONValue.int32(-1)), ("msi_key", .int32(-1))]
        return ["name": .string(name), "key": .document(BSONDocument(keys.map { ($0, 1) } + order))]
    }

    /// The field of the words for searches.
    static let words = "search_words"

    /// All fields but the words for searches.
    static let withoutWords: BSONValue = ["search_words": 0]

    /// From the newest to the oldest.
    static let order: BSONValue = ["timestamp": -1, "msi_key": -1]
}

/// Whether another program has stored two documents with the same `msi_key` or idempotency key. Then there is no unique index,
/// and the store looks for an existing message before each insert.
final class DuplicateMessages: Sendable {
    private let logger: Logger
    private let areKnown = Mutex(false)

    init(logger: Logger) {
        self.logger = logger
    }

    var exist: Bool { areKnown.withLock(\.self) }

    /// - Parameter error: The server's error, which contains one of the keys.
    func found(_ error: MongoError) {
        areKnown.withLock { $0 = true }
        logger.error(
            """
            two documents in message have the same key: remove one of them and start the service again; until then messages are \
            stored one at a time
            """,
            metadata: ["error": "\(error)"])
    }
}
