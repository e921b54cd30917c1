package import Schemas

extension SQLiteMessageStore {
    package func statistics(
        _ command: CountMessages, now: UnixMilliseconds, checkStillWanted: @escaping @Sendable () throws -> Void
    ) async throws -> MessageStatistics {
        let empty = MessageStatistics(edges: command.edges)
        guard command.filter.possibleTopics?.isEmpty != true else { return empty }
        return try await historyReaders.read(from: database, checkStillWanted: checkStillWanted) { [unreadable] database in
            let count = MessageCount(command.filter, now: now)
            var statistics = empty
            statistics.states = try count.all(in: database)
            statistics.scheduled = try count.scheduled(in: database)
            let oldest = try count.oldestWaiting(maxUnreadableWaiting, in: database)
            statistics.oldestWaiting = try unreadable.messages(of: oldest).first
            for index in statistics.buckets.indices {
                let bucket = statistics.buckets[index]
                statistics.buckets[index].states = try count.span(
                    from: bucket.from, to: bucket.to, by: command.by, in: database)
            }
            return statistics
        }
    }
}
