import Schemas
import TestSupport
import Testing

@testable import Archive

/// Pages that are restricted to topics.
extension MessageStoreTests {
    private static func topics(_ count: Int) -> [TopicKey] {
        let (channel, area) = (ObjectID(), ObjectID())
        return (0..<count).map { _ in TopicKey(channel: channel, area: area, subject: ObjectID()) }
    }

    /// Few topics are read one by one and merged in SQLite, many are not.
    @Test(
        "Pages and searches that are restricted to topics have exactly their messages, in order and without gaps",
        arguments: StoreKind.allCases, [3, 80])
    func restrictedPages(_ kind: StoreKind, _ count: Int) async throws {
        try await withMessageStore(kind) { store in
            let (wanted, others) = (Self.topics(count), Self.topics(2))
            var stored: [Message] = []
            for number in 0..<60 {
                let message = Self.message(
                    "\(number)", text: number % 4 == 0 ? "storm" : "calm",
                    at: UnixMilliseconds(rawValue: Int64(1_000 + number / 7)), sender: number % 3 == 0 ? "Ann" : "Ben",
                    topic: number % 2 == 0 ? others[number % 4 / 2] : wanted[number % count])
                stored.append(message)
                _ = try await store.insert(message)
            }
            // The same subject in another area is another topic.
            let copy = TopicKey(channel: wanted[0].channel, area: ObjectID(), subject: wanted[0].subject)
            _ = try await store.insert(Self.message("copy", at: 1_003, topic: copy))
            func pages(limit: Int, _ change: (inout MessageFilter) -> Void) async throws -> [String] {
                var filter = MessageFilter()
                change(&filter)
                return try await walk(store, filter, limit: limit)
            }
            func expected(_ topics: [TopicKey], _ isWanted: (Message) -> Bool = { _ in true }) -> [String] {
                stored.filter { topics.contains($0.topicKey) && isWanted($0) }
                    .sorted { ($0.timestamp, $0.msiKey.description) > ($1.timestamp, $1.msiKey.description) }.map(\.title)
            }
            for limit in [1, 4, 100] {
                #expect(try await pages(limit: limit) { $0.topics = wanted } == expected(wanted))
                // A topic that is named twice counts once.
                #expect(try await pages(limit: limit) { $0.topics = wanted + wanted } == expected(wanted))
                let text = try await pages(limit: limit) { ($0.topics, $0.text) = (others, SearchQuery("storm")) }
                #expect(text == expected(others) { $0.message == "storm" })
                let sender = try await pages(limit: limit) { ($0.topics, $0.sender, $0.from) = (wanted, "Ann", 1_002) }
                #expect(sender == expected(wanted) { $0.sender == "Ann" && $0.timestamp >= 1_002 })
            }
            #expect(try await pages(limit: 5) { ($0.topics, $0.subject) = (wanted, others[0].subject) } == [])
            #expect(
                try await pages(limit: 5) { ($0.topics, $0.subject) = (wanted, wanted[1].subject) } == expected([wanted[1]]))
            #expect(try await pages(limit: 5) { ($0.topics, $0.state) = (wanted, .relayed) } == [])
            #expect(try await pages(limit: 5) { $0.topics = [] } == [])
            #expect(try await pages(limit: 5) { ($0.topics, $0.text) = ([], SearchQuery("storm")) } == [])
        }
    }

    @Test(
        "Old messages of many quiet topics are found behind many messages of other topics, in order and without gaps",
        arguments: StoreKind.allCases)
    func quietTopics(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (quiet, silent, busy) = (Self.topics(30), Self.topics(200), Self.topics(1)[0])
            var expected: [Message] = []
            func add(_ number: Int, to topic: TopicKey, at time: Int) async throws {
                let message = Self.message("\(number)", at: UnixMilliseconds(rawValue: Int64(time)), topic: topic)
                if topic != busy { expected.append(message) }
                _ = try await store.insert(message)
            }
            // Five at a time have the same time.
            for number in 0..<90 { try await add(number, to: quiet[number % quiet.count], at: 1_000 + number / 5) }
            try await concurrently(maxSearchedMessages + 20) { number in
                try await store.insert(Self.message("b", at: UnixMilliseconds(rawValue: Int64(2_000 + number)), topic: busy))
            }
            for number in 90..<95 { try await add(number, to: quiet[number % quiet.count], at: 9_000) }
            expected.sort { ($0.timestamp, $0.msiKey) > ($1.timestamp, $1.msiKey) }

            var filter = MessageFilter()
            filter.topics = quiet + silent
            for limit in [3, 40, 201] {
                #expect(try await walk(store, filter, limit: limit) == expected.map(\.title), "limit \(limit)")
            }
            filter.from = 1_003
            filter.to = 1_010
            let some = expected.filter { (1_003..<1_010).contains($0.timestamp) }
            #expect(try await store.page(filter, before: nil, limit: 100).map(\.title) == some.map(\.title))
            filter.area = ObjectID()
            #expect(try await store.page(filter, before: nil, limit: 100).isEmpty)
        }
    }
}
