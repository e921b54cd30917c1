import Store
package import Schemas

/// The Alerts that phones fetch although FCM has not accepted them.
extension MongoMessageStore {
    package func dueAlerts(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds, maxPerTopic: Int, limit: Int,
        where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message] {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                var found: [Message] = []
                for topic in try connection.waitingTopics(at: now, postedBy: moment) {
                    // This topic and the later ones have only older Alerts.
                    if found.count == limit, let last = found.last, last.timestamp > topic.newest { break }
                    found += try connection.firstMessages(
                        maxPerTopic, of: Self.due(topic.key, at: now, postedBy: moment), index: MessageCollection.waitingIndex,
                        sort: ["timestamp": -1], atMost: Self.maxReadAlerts, unreadable, where: isWanted)
                    found = Array(found.sorted { $0.place > $1.place }.prefix(limit))
                }
                return found
            }
        }
    }

    /// The filter for the Alerts of a topic that are due and of which FCM has accepted nothing.
    private static func due(_ topicKey: String, at now: UnixMilliseconds, postedBy moment: UnixMilliseconds) -> BSONDocument {
        // A future attempt is a retry, the end of a lease, or the scheduled time.
        let isDue: BSONValue = [
            ["relay.attempts": ["$gt": 0]], ["relay.lease": ["$exists": true]], ["relay.next_attempt": ["$lte": now.bson]],
            ["relay.webpush_attempt": ["$lte": now.bson]],
        ]
        let acceptedByFCM: BSONDocument = [
            "state": DeliveryState.accepted.bson, "component": ["$ne": RelayComponent.webpush.bson],
        ]
        let isPosted: BSONValue = [["timestamp": ["$lte": moment.bson]], ["timestamp": ["$gt": now.bson]]]
        return [
            "distribution": Distribution.alert.bson, "topic_key": .string(topicKey),
            "relay.next_attempt": OutboxCollection.outstanding,
            "relay.state": ["$in": [RelayState.pending.bson, RelayState.retrying.bson]], "relay.accepted": nil,
            "relay.components": ["$not": ["$elemMatch": .document(acceptedByFCM)]], "expires": ["$gt": now.bson],
            "$and": [["$or": isDue], ["$or": isPosted]],
        ]
    }

    package func recalledAlerts(
        since moment: UnixMilliseconds, limit: Int, where isWanted: @escaping @Sendable (Message) -> Bool
    ) async throws -> [Message] {
        try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                try connection.firstMessages(
                    limit,
                    of: [
                        "relay.state": RelayState.recalled.bson, "distribution": Distribution.alert.bson,
                        "relay.ended": ["$gte": moment.bson],
                    ],
                    index: MessageCollection.recalledIndex, sort: ["relay.ended": -1], atMost: Self.maxReadAlerts, unreadable,
                    where: isWanted)
            }
        }
    }
}

extension Message {
    fileprivate var place: PageCursor { PageCursor(timestamp: timestamp, msiKey: msiKey) }
}

extension MongoConnection {
    /// The topics with Alerts that are still to be relayed and were posted in time, as documents spell them, with the time of the newest
    /// one. That with the newest one is first.
    fileprivate func waitingTopics(
        at now: UnixMilliseconds, postedBy moment: UnixMilliseconds
    ) throws -> [(key: String, newest: UnixMilliseconds)] {
        var newest: [String: UnixMilliseconds] = [:]
        for posted: BSONValue in [["$lte": moment.bson], ["$gt": now.bson]] {
            // In the order of the index, so that the server can skip from one topic to the next.
            let order = BSONDocument([("topic_key", .int32(1)), ("timestamp", .int32(-1))])
            let match: BSONDocument = [
                "distribution": Distribution.alert.bson, "relay.next_attempt": OutboxCollection.outstanding,
                "timestamp": posted,
            ]
            let group: BSONDocument = ["_id": "$topic_key", "newest": ["$first": "$timestamp"]]
            let steps: [BSONDocument] = [
                ["$match": .document(match)], ["$sort": .document(order)], ["$group": .document(group)],
            ]
            for document in try aggregate(steps, in: MessageCollection.name) {
                let fields = try BSONFields(document)
                // Other documents are unreadable.
                guard let key = try? fields.value("_id", as: String.self),
                    let time = try? fields.value("newest", as: UnixMilliseconds.self)
                else { continue }
                newest[key] = max(newest[key] ?? time, time)
            }
        }
        return newest.map { (key: $0.key, newest: $0.value) }.sorted { $0.newest > $1.newest }
    }

    /// The first messages by an index that satisfy a condition. Unreadable ones are left out.
    ///
    /// - Parameter maxRead: No more are read.
    fileprivate func firstMessages(
        _ limit: Int, of filter: BSONDocument, index: String, sort: BSONValue, atMost maxRead: Int,
        _ unreadable: UnreadableDocuments, where isWanted: (Message) -> Bool
    ) throws -> [Message] {
        var found: [Message] = []
        var read = 0
        while found.count < limit, read < maxRead {
            let documents = try find(
                filter, in: MessageCollection.name,
                options: [
                    "sort": sort, "skip": .int64(Int64(read)), "limit": .int64(Int64(limit)),
                    "projection": MessageCollection.withoutWords, "hint": .string(index),
                ])
            found += try unreadable.readable(of: documents) { try MessageDocument($0).message }.filter(isWanted)
            guard documents.count == limit else { break }
            read += limit
        }
        return Array(found.prefix(limit))
    }
}
