import Bus
import Schemas
import Synchronization
import Testing

@testable import Gateway

/// Pages of the archive for callers with more topics than one command can name.
@Suite("Pages of many topics")
struct HistoryPagesTests {
    private static func message(at timestamp: Int64, topic: TopicKey) -> Message {
        let draft = MessageContent(title: "t", desc: "d", message: "m", topicKey: topic, distribution: .alert)
        return Message(
            msiKey: ObjectID(), content: draft, sender: "Ann", timestamp: UnixMilliseconds(rawValue: timestamp),
            names: CubeNames(channel: "c", area: "a", subject: "s"), expires: .now, relay: RelayRecord(logged: .alert, due: .now))
    }

    @Test("Several commands make one page: its messages are in order, and the next page begins behind them")
    func merged() async throws {
        let topics = (0..<25).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
        let stored = (0..<100).map { Self.message(at: Int64($0 / 3), topic: topics[$0 % topics.count]) }
            .sorted { ($0.timestamp, $0.msiKey) > ($1.timestamp, $1.msiKey) }
        let asked = Mutex<[Int]>([])
        try await BusDouble.with { router in
            router.on(ListMessages.self) { command, _ in
                let wanted = Set(command.filter.topics ?? [])
                asked.withLock { $0.append(wanted.count) }
                let found = stored.filter { message in
                    wanted.contains(message.topicKey)
                        && (command.before.map { (message.timestamp, message.msiKey) < ($0.timestamp, $0.msiKey) } ?? true)
                }
                let page = Array(found.prefix(Int(command.limit)))
                let next = page.last.map { PageCursor(timestamp: $0.timestamp, msiKey: $0.msiKey) }
                return ListMessages.Reply(messages: page, next: found.count > page.count ? next : nil)
            }
        } _: { client in
            for limit: Int64 in [1, 7, 100, 200] {
                var (seen, cursor) = ([ObjectID](), PageCursor?.none)
                repeat {
                    let page = try await client.history(
                        ListMessages(limit: limit, before: cursor), of: topics, maxTopics: 10, for: CallerContext())
                    seen += page.messages.map(\.msiKey)
                    cursor = page.next
                } while cursor != nil
                #expect(seen == stored.map(\.msiKey), "limit \(limit)")
            }
            #expect(Set(asked.withLock(\.self)) == [10, 5])
            asked.withLock { $0 = [] }
            var filter = MessageFilter()
            filter.channel = topics[3].channel
            let one = try await client.history(
                ListMessages(limit: 100, filter: filter), of: topics, maxTopics: 10, for: CallerContext())
            #expect(Set(one.messages.map(\.topicKey)) == [topics[3]] && asked.withLock(\.self) == [1])
            // A filter by topics restricts those of the caller, and the other way round.
            filter = MessageFilter()
            filter.topics = Array(topics.prefix(5))
            for (own, expected) in [
                (Array(topics.suffix(22)), Set(topics[3..<5])), (nil, Set(topics.prefix(5))),
            ] as [([TopicKey]?, Set<TopicKey>)] {
                let both = try await client.history(
                    ListMessages(limit: 100, filter: filter), of: own, maxTopics: 10, for: CallerContext())
                #expect(Set(both.messages.map(\.topicKey)) == expected)
            }
            let all = try await client.history(ListMessages(limit: 1), of: nil, for: CallerContext())
            #expect(all.messages.isEmpty)
        }
    }
}
