import CommandBus
import Schemas

extension CommandClient {
    /// The statistics of the messages of some topics.
    ///
    /// - Parameters:
    ///   - topics: The topics; `nil` for all. If they are too many for one command, the counts of several are added.
    ///   - maxTopics: The maximum number of topics of a command.
    /// - Throws: ``CommandFailure``.
    func statistics(
        _ command: CountMessages, of topics: [TopicKey]?, maxTopics: Int = ListMessages.maxTopics, for caller: RequestContext
    ) async throws(CommandFailure) -> MessageStatistics {
        let whole = command.restricted(to: topics)
        guard let possible = whole.filter.possibleTopics, possible.count > maxTopics else {
            return try await request(whole.restricted(to: whole.filter.possibleTopics), context: caller)
        }
        var statistics = MessageStatistics(edges: command.edges)
        for start in stride(from: 0, to: possible.count, by: maxTopics) {
            let part = Array(possible[start..<min(start + maxTopics, possible.count)])
            statistics.add(try await request(command.restricted(to: part), context: caller))
        }
        return statistics
    }
}

extension MessageStatistics {
    /// Adds those of other messages with the same spans of time.
    fileprivate mutating func add(_ other: MessageStatistics) {
        states = states + other.states
        scheduled += other.scheduled
        oldestWaiting = [oldestWaiting, other.oldestWaiting].compactMap(\.self)
            .min { ($0.timestamp, $0.msiKey) < ($1.timestamp, $1.msiKey) }
        for (index, bucket) in zip(buckets.indices, other.buckets) {
            buckets[index].states = buckets[index].states + bucket.states
        }
    }
}
