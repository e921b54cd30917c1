import MongoDatabase
package import Schemas

/// The Alerts that phones fetch although FCM has not accepted them.
extension MongoMessageStore {
    package func dueAlerts(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, limit: Int
    ) async throws -> [Message] {
        // A future attempt is a retry, the end of a lease, or the scheduled time.
        let isDue: BSONValue = [
            ["relay.attempts": ["$gt": 0]], ["relay.lease": ["$exists": true]], ["relay.next_attempt": ["$lte": now.bson]],
        ]
        let isPosted: BSONValue = [["timestamp": ["$lte": moment.bson]], ["timestamp": ["$gt": now.bson]]]
        return try await messages(
            [
                "distribution": Distribution.alert.bson, "relay.next_attempt": OutboxCollection.outstanding,
                "relay.state": ["$in": [RelayState.pending.bson, RelayState.retrying.bson]], "relay.accepted": nil,
                "expires": ["$gt": now.bson], "$and": [["$or": isDue], ["$or": isPosted]],
            ],
            index: OutboxCollection.messages.timeIndex.name, sort: MessageCollection.order, limit: limit)
    }

    package func recalledAlerts(since moment: UnixMilliseconds, limit: Int) async throws -> [Message] {
        try await messages(
            [
                "relay.state": RelayState.recalled.bson, "distribution": Distribution.alert.bson,
                "relay.ended": ["$gte": moment.bson],
            ],
            index: MessageCollection.recalledIndex, sort: ["relay.ended": -1], limit: limit)
    }

    /// The first messages by an index. Unreadable ones are left out.
    private func messages(_ filter: BSONDocument, index: String, sort: BSONValue, limit: Int) async throws -> [Message] {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                let documents = try connection.find(
                    filter, in: MessageCollection.name,
                    options: [
                        "sort": sort, "limit": .int64(Int64(limit)), "projection": MessageCollection.withoutWords,
                        "hint": .string(index),
                    ])
                return try unreadable.readable(of: documents) { try MessageDocument($0).message }
            }
        }
    }
}
