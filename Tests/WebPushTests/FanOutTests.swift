import Bus
import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import WebPush

/// How a message's subscriptions become blocks of the message log, on both databases.
@Suite("Fan-out", .timeLimit(.minutes(10)))
struct FanOutTests {
    private struct Parts: Sendable {
        let store: Storage
        let messageLog: MessageLogDouble
        let client: CommandClient

        /// As after a start: it knows only what is stored.
        func fanOut(_ command: FanOutMessage) async throws -> Int {
            try await FanOut(store: store, messageLog: client, logger: quietLogger).fanOut(command).subscriptions
        }

        /// - Returns: The new subscriptions of a topic, in the order of their ids.
        @discardableResult
        func subscribe(_ count: Int, to topic: TopicKey, _ distribution: Distribution = .alert) async throws -> [ObjectID] {
            let ids = (0..<count).map { _ in ObjectID() }.sorted()
            try await store.transaction { transaction in
                try transaction.insert(all: ids.map { SubscribedTopic(topic, distribution, of: $0) }, into: WebPushStore.topics)
            }
            return ids
        }

        func unsubscribe(_ id: ObjectID, from topic: TopicKey) async throws {
            try await store.transaction { transaction in
                _ = try transaction.delete(SubscribedTopic(topic, .alert, of: id).id, from: WebPushStore.topics)
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
            #expect(Set(pushes.keys) == ["\(message.msiKey)/0", "\(message.msiKey)/1", "\(message.msiKey)/2"])
            #expect(pushes["\(message.msiKey)/0"]?.tokens == ids[..<500].map(\.description))
            #expect(pushes["\(message.msiKey)/2"]?.tokens == ids[1_000...].map(\.description))
            for push in pushes.values {
                #expect(push.transport == .webpush && push.fairnessKey == "webpush/\(topic)" && push.expires == message.expires)
                let content = try WebPushMessage(push.message)
                #expect(content.urgency == .high && content.topic == message.msiKey.description && content.ttl == nil)
            }
            // What comes later gets nothing of it.
            try await parts.subscribe(10, to: topic)
            #expect(try await parts.fanOut(message) == 1_203)
            #expect(parts.messageLog.commands == 3)
        }
    }

    @Test("A subject without subscriptions makes no block")
    func none() async throws {
        try await Self.withParts { parts in
            let message = Self.message(to: .new())
            let counts = try await [parts.fanOut(message), parts.fanOut(message)]
            #expect(counts == [0, 0])
            #expect(parts.messageLog.commands == 0)
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
            let ids = try await parts.subscribe(1_203, to: topic)
            for interruption in 1...3 {
                let message = Self.message(to: topic)
                let before = parts.messageLog.subscriptions.count
                parts.messageLog.decide { command in
                    guard command == interruption else { return .stored }
                    return isStored ? .lost : .refused(CommandFailure(.unavailable, "away"))
                }
                #expect(await status { _ = try await parts.fanOut(message) } == .unavailable)
                parts.messageLog.decide { _ in .stored }
                #expect(try await parts.fanOut(message) == 1_203)
                #expect(parts.messageLog.commands == 4 - interruption)
                let pushes = parts.messageLog.pushes.filter { $0.key.hasPrefix(message.msiKey.description) }
                #expect(pushes.count == 3 && parts.messageLog.subscriptions.count == before + 1_203)
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
            #expect(parts.messageLog.pushes["\(message.msiKey)/0"]?.tokens?.count == 500)
            #expect(parts.messageLog.pushes["\(message.msiKey)/1"]?.tokens?.count == 199)
            #expect(Set(parts.messageLog.subscriptions).count == 699)
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
