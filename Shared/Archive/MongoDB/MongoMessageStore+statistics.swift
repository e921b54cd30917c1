import Store
package import Schemas

extension MongoMessageStore {
    package func statistics(
        _ command: CountMessages, now: UnixMilliseconds, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> MessageStatistics {
        let filter = command.filter
        let empty = MessageStatistics(edges: command.edges)
        guard filter.possibleTopics?.isEmpty != true else { return empty }
        return try await MongoError.asFailure {
            try await database.run { [unreadable] connection in
                // The call may have waited for a thread.
                try checkStillWanted()
                var statistics = empty
                statistics.states = try connection.states(filter)
                statistics.scheduled = try connection.scheduled(filter, now: now)
                let oldest = try connection.oldestWaiting(filter, maxUnreadableWaiting, now: now)
                statistics.oldestWaiting = try unreadable.readable(of: oldest) { try MessageDocument($0).message }.first
                for (bucket, states) in try connection.states(filter, between: command.edges, by: command.by) {
                    statistics.buckets[bucket].states = states
                }
                return statistics
            }
        }
    }
}

/// Counts of messages by their states.
extension MongoConnection {
    /// The counts of the matching messages.
    func states(_ filter: MessageFilter) throws -> StateCounts {
        // Every message has a timestamp. The condition lets the server read an index alone if there is no other one.
        let match = filter.document(after: nil).with("timestamp", ["$gte": 0])
        return try counts(match, bucket: 0).first?.value ?? StateCounts()
    }

    /// The counts of the matching messages in spans of time, by their numbers. Spans without messages are left out.
    ///
    /// - Parameter edges: At least two, which ascend.
    func states(
        _ filter: MessageFilter, between edges: [UnixMilliseconds], by time: CountMessages.Time
    ) throws -> [Int: StateCounts] {
        guard let first = edges.first, let last = edges.last, edges.count > 1 else { return [:] }
        let field = time == .timestamp ? "timestamp" : "relay.ended"
        let match = filter.document(after: nil).with(field, ["$gte": first.bson, "$lt": last.bson])
        return try counts(match, bucket: Self.number("$" + field, in: edges, 0..<edges.count - 1))
    }

    /// - Parameter bucket: The expression for the number of a message's span.
    private func counts(_ match: BSONDocument, bucket: BSONValue) throws -> [Int: StateCounts] {
        let groups = try aggregate(
            [
                ["$match": .document(match)],
                [
                    "$group": [
                        // Messages of other programs have no state and count as relayed.
                        "_id": ["state": ["$ifNull": ["$relay.state", RelayState.relayed.bson]], "bucket": bucket],
                        "count": ["$sum": 1],
                    ]
                ],
            ], in: MessageCollection.name)
        var counts: [Int: StateCounts] = [:]
        for group in groups {
            let fields = try BSONFields(group)
            let key = try fields.fields("_id")
            // A message with another state is unreadable.
            guard let state = try key["state"].flatMap({ RelayState(bson: $0) }) else { continue }
            let bucket = Int(try key.value("bucket", as: Int64.self))
            counts[bucket, default: StateCounts()][state] = Int(try fields.value("count", as: Int64.self))
        }
        return counts
    }

    /// The expression for the number of the span with a time, one of some numbers: a binary search.
    private static func number(_ time: String, in edges: [UnixMilliseconds], _ numbers: Range<Int>) -> BSONValue {
        guard numbers.count > 1 else { return .int32(Int32(numbers.lowerBound)) }
        let middle = numbers.lowerBound + numbers.count / 2
        return [
            "$cond": [
                ["$lt": [.string(time), edges[middle].bson]], number(time, in: edges, numbers.lowerBound..<middle),
                number(time, in: edges, middle..<numbers.upperBound),
            ]
        ]
    }

    /// How many pending messages are scheduled for later.
    func scheduled(_ filter: MessageFilter, now: UnixMilliseconds) throws -> Int {
        let match = filter.document(after: nil).with("relay.state", RelayState.pending.bson).with("$or", Self.isScheduled(now))
        let counts = try aggregate([["$match": .document(match)], ["$count": "count"]], in: MessageCollection.name)
        return try counts.first.map { Int(try BSONFields($0).value("count", as: Int64.self)) } ?? 0
    }

    /// The oldest messages that wait and are not scheduled for later.
    func oldestWaiting(_ filter: MessageFilter, _ count: Int, now: UnixMilliseconds) throws -> [BSONDocument] {
        try find(
            filter.document(after: nil).with("relay.state", ["$in": [RelayState.pending, .retrying].bson])
                .with("$nor", Self.isScheduled(now)),
            in: MessageCollection.name,
            options: [
                "sort": ["timestamp": 1, "msi_key": 1], "limit": .int64(Int64(count)),
                "projection": MessageCollection.withoutWords,
            ])
    }

    /// As ``Message/notBefore(at:)``: the alternatives of a condition. Fields of other types count as 0: an error about an unreadable
    /// message would be one about all messages.
    private static func isScheduled(_ now: UnixMilliseconds) -> BSONValue {
        func number(_ value: BSONValue) -> BSONValue {
            ["$convert": ["input": value, "to": "long", "onError": 0, "onNull": 0]]
        }
        let delay: BSONValue = ["$multiply": [number("$delay"), 1_000]]
        let end: BSONValue = ["$add": [["$min": [number("$timestamp"), now.bson]], delay]]
        return [
            ["send_at": ["$gt": now.bson]],
            ["send_at": nil, "delay": ["$gt": 0], "$expr": ["$gt": [end, now.bson]]],
        ]
    }
}
