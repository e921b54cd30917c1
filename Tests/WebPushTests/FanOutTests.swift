import Bus
import Base
import Schemas
import Store
import TestSupport
import Testing
import WebPushStore

@testable import WebPush

/// How a message's subscriptions become blocks of the message log, on both databases.
@Suite("Fan-out", .timeLimit(.minutes(10)))
struct FanOutTests {
    private static let mozilla = "updates.push.services.mozilla.com"
    private static let apple = "push.apple.com"

    private struct Parts: Sendable {
        let store: Storage
        let messageLog: MessageLogDouble
        let client: CommandClient

        /// As after a start: it knows only what is stored.
        func fanOut(_ command: FanOutMessage) async throws -> Int {
            try await FanOut(store: store, messageLog: client, logger: quietLogger).fanOut(command).subscriptions
        }

        /// - Parameter services: Their push services, in turn.
        /// - Returns: The new subscriptions of a topic, in the order of their ids.
        @discardableResult
        func subscribe(
            _ count: Int, to topic: TopicKey, _ distribution: Distribution = .alert, at services: [String] = [FanOutTests.mozilla]
        ) async throws -> [ObjectID] {
            let ids = (0..<count).map { _ in ObjectID() }.sorted()
            let topics = ids.enumerated().map { number, id in
                SubscribedTopic(topic, distribution, of: id, at: services[number % services.count])
            }
            try await store.transaction { try $0.insert(all: topics, into: WebPushStore.topics) }
            return ids
        }

        func unsubscribe(_ id: ObjectID, from topic: TopicKey) async throws {
            try await store.transaction { transaction in
                let subscribed = SubscribedTopic(topic, .alert, of: id, at: FanOutTests.mozilla)
                _ = try transaction.delete(subscribed.id, from: WebPushStore.topics)
            }
        }
    }

    private static func withParts(_ kind: StoreKind = .sqlite, _ body: @Sendable (Parts) async throws -> Void) async throws {
        try await withWebPushStore(kind) { store, folder in
            try await withBus { bus in
                let messageLog = MessageLogDouble()
                let endpoint = "ipc://\(folder)/message-log.sock"
                let server = try CommandServer(bus: bus, endpoint: endpoint, router: messageLog.router(), logger: quietLogger)
                let client = try CommandClient(bus: bus, endpoints: [endpoint], logger: quietLogger)
                let running = Task { try await server.run() }
                defer { running.cancel() }
                try await body(Parts(store: store, messageLog: messageLog, client: client))
            }
        }
    }

    private static func message(
        to topic: TopicKey, _ distribution: Distribution = .alert, key: ObjectID = ObjectID(), corrects: ObjectID? = nil
    ) -> FanOutMessage {
        var content = MessageContent(
            title: "Campus closed", desc: "Please stay at home", message: "All lectures are cancelled.", topicKey: topic,
            distribution: distribution)
        content.corrects = corrects
        return FanOutMessage(msiKey: key, timestamp: .now, content: content, expires: .now + .seconds(3_600))
    }

    @Test("Each subscription of the subject is in one block, and a repetition adds none", arguments: StoreKind.allCases)
    func blocks(kind: StoreKind) async throws {
        try await Self.withParts(kind) { parts in
            let (topic, other) = (TopicKey.new(), TopicKey.new())
            let ids = try await parts.subscribe(1_203, to: topic)
            try await parts.subscribe(10, to: other)
            try await parts.subscribe(10, to: topic, .information)
            let message = Self.message(to: topic)
            #expect(try await parts.fanOut(message) == 1_203)
            let pushes = parts.messageLog.pushes
            func key(_ number: Int) -> String { "\(message.msiKey)/\(number)/\(Self.mozilla)" }
            #expect(Set(pushes.keys) == [key(0), key(1), key(2)])
            #expect(pushes[key(0)]?.tokens == ids[..<500].map(\.description))
            #expect(pushes[key(2)]?.tokens == ids[1_000...].map(\.description))
            for push in pushes.values {
                #expect(push.transport == .webpush && push.expires == message.expires)
                #expect(push.fairnessKey == "webpush/\(Self.mozilla)/\(topic)")
                let content = try WebPushMessage(push.message)
                #expect(content.urgency == .high && content.topic == message.msiKey.description && content.ttl == nil)
            }
            // What comes later gets nothing of it.
            try await parts.subscribe(10, to: topic)
            #expect(try await parts.fanOut(message) == 1_203)
            #expect(parts.messageLog.commands == 3)
        }
    }

    @Test("A block has subscriptions of one push service, and a fairness key of that service", arguments: StoreKind.allCases)
    func services(kind: StoreKind) async throws {
        try await Self.withParts(kind) { parts in
            let topic = TopicKey.new()
            let ids = try await parts.subscribe(501, to: topic, at: [Self.mozilla, Self.apple])
            let message = Self.message(to: topic)
            #expect(try await parts.fanOut(message) == 501)
            let pushes = parts.messageLog.pushes
            let (even, odd) = (stride(from: 0, to: 500, by: 2), stride(from: 1, to: 500, by: 2))
            #expect(pushes["\(message.msiKey)/0/\(Self.mozilla)"]?.tokens == even.map { ids[$0].description })
            #expect(pushes["\(message.msiKey)/0/\(Self.apple)"]?.tokens == odd.map { ids[$0].description })
            #expect(pushes["\(message.msiKey)/1/\(Self.mozilla)"]?.tokens == [ids[500].description])
            #expect(pushes["\(message.msiKey)/0/\(Self.apple)"]?.fairnessKey == "webpush/\(Self.apple)/\(topic)")
            #expect(pushes.count == 3 && parts.messageLog.commands == 3)
        }
    }

    @Test("Push services with long names have keys that the message log takes, each its own")
    func longNames() async throws {
        try await Self.withParts { parts in
            let topic = TopicKey.new()
            let domain = String(repeating: "a-rather-long-name.", count: 12)
            try await parts.subscribe(2, to: topic, at: [domain + "one.example", domain + "other.example"])
            let message = Self.message(to: topic)
            let counts = try await [parts.fanOut(message), parts.fanOut(message)]
            #expect(counts == [2, 2])
            let pushes = parts.messageLog.pushes.values
            for push in pushes { try push.check() }
            #expect(pushes.count == 2 && Set(pushes.map(\.fairnessKey)).count == 2)
        }
    }

    @Test("A subject without subscriptions makes no block")
    func none() async throws {
        try await Self.withParts { parts in
            let message = Self.message(to: .new())
            let counts = try await [parts.fanOut(message), parts.fanOut(message)]
            #expect(counts == [0, 0])
            #expect(parts.messageLog.commands == 0)
            let stored = try await parts.store.get(message.msiKey, from: WebPushStore.fanOuts)
            #expect(stored == nil, "a full disk keeps back a message that nobody gets by Web Push")
        }
    }

    @Test("Information goes to those who asked for it, quietly")
    func information() async throws {
        try await Self.withParts { parts in
            let topic = TopicKey.new()
            try await parts.subscribe(5, to: topic)
            let ids = try await parts.subscribe(3, to: topic, .information)
            let original = ObjectID()
            #expect(try await parts.fanOut(Self.message(to: topic, .information, corrects: original)) == 3)
            let push = try #require(parts.messageLog.pushes.values.first)
            #expect(push.tokens == ids.map(\.description))
            let content = try WebPushMessage(push.message)
            #expect(content.urgency == .low && content.topic == original.description)
            #expect(content.payload["notification"]?["silent"] == true)
            #expect(content.payload["notification"]?["tag"] == .string(original.description))
            #expect(content.payload["msi"]?["corrects"] == .string(original.description))
        }
    }

    @Test(
        "Interrupted at any command, with and without a lost answer, it ends with each subscription in one block",
        arguments: StoreKind.allCases, [true, false])
    func interrupted(kind: StoreKind, isStored: Bool) async throws {
        try await Self.withParts(kind) { parts in
            let topic = TopicKey.new()
            let ids = try await parts.subscribe(1_203, to: topic, at: [Self.mozilla, Self.apple])
            // Three ranges with a block for each of two services.
            for interruption in 1...6 {
                let message = Self.message(to: topic)
                let before = parts.messageLog.subscriptions.count
                parts.messageLog.decide { command in
                    guard command == interruption else { return .stored }
                    return isStored ? .lost : .refused(CommandFailure(.unavailable, "away"))
                }
                #expect(await status { _ = try await parts.fanOut(message) } == .unavailable)
                parts.messageLog.decide { _ in .stored }
                #expect(try await parts.fanOut(message) == 1_203)
                // It continues with the first block of the range.
                #expect(parts.messageLog.commands == 6 - (interruption - 1) / 2 * 2)
                let pushes = parts.messageLog.pushes.filter { $0.key.hasPrefix(message.msiKey.description) }
                #expect(pushes.count == 6 && parts.messageLog.subscriptions.count == before + 1_203)
                #expect(Set(pushes.values.flatMap { $0.tokens ?? [] }) == Set(ids.map(\.description)))
            }
        }
    }

    @Test("A block that is logged stays as it is, if its subscriptions have changed when the fan-out is resumed")
    func changedSince() async throws {
        try await Self.withParts { parts in
            let topic = TopicKey.new()
            let ids = try await parts.subscribe(700, to: topic)
            let message = Self.message(to: topic)
            parts.messageLog.decide { $0 == 1 ? .lost : .stored }
            #expect(await status { _ = try await parts.fanOut(message) } == .unavailable)
            // One of the first block has left, and one of the second.
            try await parts.unsubscribe(ids[10], from: topic)
            try await parts.unsubscribe(ids[600], from: topic)
            parts.messageLog.decide { _ in .stored }
            _ = try await parts.fanOut(message)
            #expect(parts.messageLog.pushes["\(message.msiKey)/0/\(Self.mozilla)"]?.tokens?.count == 500)
            #expect(parts.messageLog.pushes["\(message.msiKey)/1/\(Self.mozilla)"]?.tokens?.count == 199)
            #expect(Set(parts.messageLog.subscriptions).count == 699)
        }
    }

    @Test("Of a range that grows while the fan-out is interrupted no subscription is left out", arguments: StoreKind.allCases)
    func grown(kind: StoreKind) async throws {
        try await Self.withParts(kind) { parts in
            let topic = TopicKey.new()
            let ids = (0..<1_500).map { _ in ObjectID() }.sorted()
            func join(_ ids: ArraySlice<ObjectID>) async throws {
                let topics = ids.map { SubscribedTopic(topic, .alert, of: $0, at: Self.mozilla) }
                try await parts.store.transaction { try $0.insert(all: topics, into: WebPushStore.topics) }
            }
            try await join(ids[1_100...])
            let message = Self.message(to: topic)
            parts.messageLog.decide { _ in .refused(CommandFailure(.unavailable, "away")) }
            #expect(await status { _ = try await parts.fanOut(message) } == .unavailable)
            try await join(ids[..<1_100])
            parts.messageLog.decide { _ in .stored }
            #expect(try await parts.fanOut(message) == 1_500)
            #expect(parts.messageLog.subscriptions.sorted() == ids && parts.messageLog.commands == 2)
        }
    }

    @Test("A message log that takes no blocks is part of the health until it takes one")
    func health() async throws {
        try await Self.withParts { parts in
            let topic = TopicKey.new()
            try await parts.subscribe(1, to: topic)
            let message = Self.message(to: topic)
            let fanOut = FanOut(store: parts.store, messageLog: parts.client, logger: quietLogger)
            parts.messageLog.decide { _ in .refused(CommandFailure(.storageFull, "full")) }
            #expect(await status { _ = try await fanOut.fanOut(message) } == .unavailable)
            #expect(fanOut.health["outbox"]?.status == .unavailable)
            parts.messageLog.decide { _ in .stored }
            _ = try await fanOut.fanOut(message)
            #expect(fanOut.health["outbox"]?.status == .ok)
        }
    }

    @Test("Two commands for a message at the same time make one set of blocks")
    func concurrent() async throws {
        try await Self.withParts { parts in
            let topic = TopicKey.new()
            try await parts.subscribe(1_203, to: topic)
            let message = Self.message(to: topic)
            let fanOut = FanOut(store: parts.store, messageLog: parts.client, logger: quietLogger)
            async let one = fanOut.fanOut(message)
            async let other = fanOut.fanOut(message)
            let counts = try await [one.subscriptions, other.subscriptions]
            #expect(counts == [1_203, 1_203] && parts.messageLog.commands == 3)
        }
    }

    @Test("What the message log refuses for its content is passed on")
    func refused() async throws {
        try await Self.withParts { parts in
            let topic = TopicKey.new()
            try await parts.subscribe(1, to: topic)
            parts.messageLog.decide { _ in .refused(CommandFailure(.invalid, "too large")) }
            #expect(await status { _ = try await parts.fanOut(Self.message(to: topic)) } == .invalid)
            parts.messageLog.decide { _ in .refused(CommandFailure(.storageFull, "full")) }
            #expect(await status { _ = try await parts.fanOut(Self.message(to: topic)) } == .unavailable)
        }
    }
}
