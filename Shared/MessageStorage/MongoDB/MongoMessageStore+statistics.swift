import MongoDatabase
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
