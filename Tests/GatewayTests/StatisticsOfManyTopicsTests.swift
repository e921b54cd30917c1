import Bus
import Schemas
import Synchronization
import Testing

@testable import Gateway

/// Statistics for callers with more topics than one command can name.
@Suite("Statistics of many topics")
struct StatisticsOfManyTopicsTests {
    @Test("The counts of several commands are added, and the oldest message of all is the oldest")
    func added() async throws {
        let topics = (0..<25).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
        let asked = Mutex<[Int]>([])
        try await BusDouble.with { router in
            router.on(CountMessages.self) { command, _ in
                let wanted = command.topics ?? []
                asked.withLock { $0.append(wanted.count) }
                var statistics = MessageStatistics(edges: command.edges)
                statistics.scheduled = wanted.count
                statistics.states[.relayed] = wanted.count
                statistics.buckets[1].states[.relayed] = wanted.count
                let oldest = wanted.compactMap(topics.firstIndex).min()
                statistics.oldestWaiting = oldest.map { index in
                    var message = Message.example
                    message.timestamp = UnixMilliseconds(rawValue: Int64(index))
                    return message
                }
                return statistics
            }
        } _: { client in
            let command = CountMessages(edges: [1, 2, 3], by: .ended)
            let all = try await client.statistics(command, of: topics, maxTopics: 10, for: CallerContext())
            #expect(asked.withLock(\.self) == [10, 10, 5])
            #expect(all.states[.relayed] == 25 && all.scheduled == 25 && all.oldestWaiting?.timestamp == 0)
            #expect(all.buckets.map { $0.states[.relayed] } == [0, 25])
            let one = try await client.statistics(
                CountMessages(channel: topics[3].channel, edges: [1, 2, 3]), of: topics, maxTopics: 10, for: CallerContext())
            #expect(one.states[.relayed] == 1 && one.oldestWaiting?.timestamp == 3)
        }
    }
}
