import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

/// The counts of messages by state.
extension MessageStoreTests {
    private func count(
        _ store: any MessageStore, _ command: CountMessages = CountMessages(), now: UnixMilliseconds = 1_000_000
    ) async throws -> MessageStatistics {
        try await store.statistics(command, now: now) {}
    }

    private static func counts(_ counts: [RelayState: Int]) -> StateCounts {
        counts.reduce(into: StateCounts()) { $0[$1.key] = $1.value }
    }

    @Test("Messages are counted by state, in total and in spans of both times", arguments: StoreKind.allCases)
    func spans(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            #expect(try await count(store) == MessageStatistics(edges: []))
            var messages: [Message] = []
            for number in 0..<10 {
                messages.append(Self.message("\(number)", at: UnixMilliseconds(rawValue: Int64(1_000 + 100 * number))))
                _ = try await store.insert(messages[number])
            }
            try await finish(Array(messages[0..<4]), in: store, at: 5_000)
            try await finish([messages[4]], in: store, as: .failed, at: 6_000)
            try await finish([messages[5]], in: store, as: .recalled, at: 6_999)
            let all = Self.counts([.relayed: 4, .failed: 1, .recalled: 1, .pending: 4])
            #expect(try await count(store).states == all)

            let logged = try await count(store, CountMessages(edges: [1_000, 1_300, 1_301, 1_900, 9_000]))
            #expect(logged.states == all)
            #expect(logged.buckets.map(\.from) == [1_000, 1_300, 1_301, 1_900])
            #expect(logged.buckets.map(\.to) == [1_300, 1_301, 1_900, 9_000])
            let expected: [[RelayState: Int]] = [
                [.relayed: 3], [.relayed: 1], [.failed: 1, .recalled: 1, .pending: 3], [.pending: 1],
            ]
            #expect(logged.buckets.map(\.states) == expected.map(Self.counts))

            let ended = try await count(store, CountMessages(edges: [0, 5_000, 6_000, 6_999, 7_000], by: .ended))
            #expect(
                ended.buckets.map(\.states)
                    == [[:], [.relayed: 4], [.failed: 1], [.recalled: 1]].map(Self.counts))
            #expect(try await count(store, CountMessages(edges: [5_000])).buckets.isEmpty)
        }
    }

    @Test("The largest number of spans is counted, each with its messages", arguments: StoreKind.allCases)
    func manySpans(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            for number in 0..<50 {
                _ = try await store.insert(Self.message(at: UnixMilliseconds(rawValue: Int64(1_000 + 4 * number))))
            }
            let edges = (0..<CountMessages.maxEdges).map { UnixMilliseconds(rawValue: Int64(1_000 + $0)) }
            let buckets = try await count(store, CountMessages(edges: edges)).buckets
            #expect(buckets.count == CountMessages.maxEdges - 1)
            #expect(buckets.map { $0.states[.pending] } == (0..<CountMessages.maxEdges - 1).map { $0 % 4 == 0 ? 1 : 0 })
        }
    }

    @Test("Only messages of the channel, the area, the subject and the caller's topics count", arguments: StoreKind.allCases)
    func parts(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let (channel, area) = (ObjectID(), ObjectID())
            let topics = [
                TopicKey(channel: channel, area: area, subject: ObjectID()),
                TopicKey(channel: channel, area: area, subject: ObjectID()),
                TopicKey(channel: channel, area: ObjectID(), subject: ObjectID()),
                TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()),
            ]
            // One message of the first topic, two of the second one, and so on.
            for (index, topic) in topics.enumerated() {
                for number in 0...index { _ = try await store.insert(Self.message("\(number)", topic: topic)) }
            }
            func pending(_ command: CountMessages) async throws -> Int {
                let spans = CountMessages(
                    channel: command.channel, area: command.area, subject: command.subject, edges: [0, 9_000],
                    topics: command.topics)
                let found = try await count(store, spans)
                #expect(found.states == found.buckets[0].states)
                #expect((found.oldestWaiting == nil) == (found.states[.pending] == 0))
                return found.states[.pending]
            }
            #expect(try await pending(CountMessages()) == 10)
            #expect(try await pending(CountMessages(channel: channel)) == 6)
            #expect(try await pending(CountMessages(area: area)) == 3)
            #expect(try await pending(CountMessages(subject: topics[1].subject)) == 2)
            #expect(try await pending(CountMessages(channel: channel, area: topics[3].area)) == 0)
            #expect(try await pending(CountMessages(topics: [topics[0], topics[3], topics[3]])) == 5)
            #expect(try await pending(CountMessages(channel: channel, topics: [topics[0], topics[3]])) == 1)
            #expect(try await pending(CountMessages(subject: topics[1].subject, topics: [topics[0]])) == 0)
            #expect(try await pending(CountMessages(topics: [])) == 0)
        }
    }

    @Test("Scheduled and delayed messages count, and the oldest other one that waits is found", arguments: StoreKind.allCases)
    func waitingStatistics(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let now: UnixMilliseconds = 1_000_000
            func add(
                _ title: String, at timestamp: UnixMilliseconds, sendAt: UnixMilliseconds? = nil, delay: Seconds? = nil,
                _ state: RelayState = .pending
            ) async throws -> Message {
                var message = Self.message(title, at: timestamp, sendAt: sendAt)
                message.content.delay = delay
                message.relay.state = state
                _ = try await store.insert(message)
                return message
            }
            _ = try await add("scheduled", at: now - 9_000, sendAt: now + 1)
            _ = try await add("delayed", at: now - 8_000, delay: 9)
            _ = try await add("held", at: now - 7_000, .held)
            _ = try await add("scheduled, but held", at: now - 7_000, sendAt: now + 1, .held)
            #expect(try await count(store, now: now).oldestWaiting == nil)
            let retrying = try await add("retrying", at: now - 5_000, .retrying)
            _ = try await add("new", at: now - 100)
            let found = try await count(store, now: now)
            #expect(found.scheduled == 2 && found.states == Self.counts([.pending: 3, .held: 2, .retrying: 1]))
            #expect(found.oldestWaiting == retrying)
            let due = try await add("its time has come", at: now - 6_000, sendAt: now)
            #expect(try await count(store, now: now).oldestWaiting == due)
            let past = try await add("its delay is over", at: now - 6_500, delay: 5)
            #expect(try await count(store, now: now).oldestWaiting == past)
            #expect(try await count(store, now: now).scheduled == 2)
            // The clock was set back: a delay counts from now.
            #expect(try await count(store, now: now - 100_000).scheduled == 4)
        }
    }

    @Test("Unreadable messages disturb no counts, and are not the oldest one that waits", arguments: StoreKind.allCases)
    func unreadableStatistics(_ kind: StoreKind) async throws {
        try await withMessagePlace(kind) { place in
            let store = try await place.open()
            let messages = (0..<4).map { Self.message("\($0)", at: UnixMilliseconds(rawValue: Int64(1_000 + $0))) }
            for message in messages { _ = try await store.insert(message) }
            try await place.spoil(messages[0].msiKey, column: "components", field: "relay.components")
            try await place.spoil(messages[1].msiKey, column: "delay", field: "delay")
            try await place.spoil(messages[2].msiKey, column: "state", field: "relay.state")
            let found = try await count(store, CountMessages(edges: [0, 9_000]))
            #expect(found.states == Self.counts([.pending: 3]) && found.buckets[0].states == found.states)
            #expect(found.scheduled == 0 && found.oldestWaiting == messages[3])
            try await store.close()
        }
    }
}

/// How long counting takes.
extension MessageStoreTests {
    @Test("Statistics of many messages are quick", .atLength, arguments: StoreKind.allCases)
    func quickStatistics(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            // The tests' server for MongoDB is written in Python.
            let total = kind == .sqlite ? 12_000 : 2_000
            let topics = (0..<20).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<total {
                    group.addTask {
                        var message = Self.message(
                            at: UnixMilliseconds(rawValue: Int64(1_000 + 10 * number)), topic: topics[number % topics.count])
                        message.relay.state = .relayed
                        message.relay.nextAttempt = nil
                        message.relay.ended = message.timestamp + 5
                        _ = try await store.insert(message)
                    }
                    if number >= 64 { try await group.next() }
                }
                try await group.waitForAll()
            }
            let edges = (0..<CountMessages.maxEdges).map { UnixMilliseconds(rawValue: Int64(1_000 + 600 * $0)) }
            for (command, expected) in [
                (CountMessages(edges: edges), total),
                (CountMessages(edges: edges, by: .ended, topics: Array(topics[..<5])), total / 4),
            ] {
                // The best of several: other tests run at the same time.
                var best = Duration.seconds(10)
                for _ in 0..<5 {
                    let start = ContinuousClock.now
                    let found = try await count(store, command)
                    best = min(best, .now - start)
                    #expect(found.states[.relayed] == expected)
                    #expect(found.buckets.reduce(0) { $0 + $1.states[.relayed] } >= expected * 99 / 100)
                }
                let limit = kind == .sqlite ? Duration.milliseconds(300) : .seconds(5)
                #expect(best < limit, "\(kind) \(command.by)")
            }
        }
    }
}
