import Schemas
import TestSupport
import Testing
import Base

@testable import Archive

/// The messages that phones fetch.
extension MessageStoreTests {
    private func accept(_ message: Message, in store: any MessageStore, at accepted: UnixMilliseconds) async throws {
        try await store.update(message.msiKey) { record, _ in record.accepted = accepted }
    }

    @Test("Accepted messages of topics are read in acceptance order, page by page", arguments: StoreKind.allCases)
    func accepted(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            #expect(try await store.lastAcceptance() == nil)
            let other = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            var messages: [Message] = []
            for number in 0..<9 {
                let message = Self.message(
                    "\(number)", at: UnixMilliseconds(rawValue: Int64(9_000 - number)), topic: number == 4 ? other : Self.topic
                ) { $0.options = number == 1 ? DeliveryOptions(link: "tel:112") : nil }
                _ = try await store.insert(message)
                messages.append(message)
            }
            // Two in the same millisecond, and the last one is not accepted.
            for (number, time) in [50, 10, 20, 20, 30, 40, 60, 70].enumerated() {
                try await accept(messages[number], in: store, at: UnixMilliseconds(rawValue: Int64(time)))
            }
            let sameTime = [messages[2], messages[3]].sorted { $0.msiKey < $1.msiKey }
            let expected = [messages[1]] + sameTime + [messages[5], messages[0], messages[6], messages[7]]
            var (read, after): ([PhoneMessage], PageCursor?) = ([], PageCursor(before: 0))
            while let position = after {
                let page = try await store.accepted([Self.topic], after: position, limit: 2)
                #expect(page.messages.count <= 2)
                read += page.messages.map(\.message)
                after = page.end
            }
            #expect(read.map(\.msiKey) == expected.map(\.msiKey))
            let first = try #require(read.first)
            #expect(
                first
                    == PhoneMessage(
                        msiKey: messages[1].msiKey, topicKey: Self.topic, distribution: .alert, title: "1", desc: "ابق \"q\"",
                        message: "😀\n", timestamp: 8_999, link: "tel:112"))
            let both = try await store.accepted([other, Self.topic], after: PageCursor(before: 30), limit: 10)
            #expect(both.messages.map(\.message.title) == ["4", "5", "0", "6", "7"] && both.end == nil)
            #expect(try await store.accepted([other], after: PageCursor(before: 31), limit: 10).messages.isEmpty)
            #expect(try await store.lastAcceptance() == 70)
            #expect(try await store.message(messages[1].msiKey)?.relay.accepted == 10)
        }
    }

    @Test("As many topics as a command may have are not an error", arguments: StoreKind.allCases)
    func acceptedOfManyTopics(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let message = Self.message()
            _ = try await store.insert(message)
            try await accept(message, in: store, at: 5)
            let topics = (0..<ReadAccepted.maxTopics).map { _ in
                TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            }
            #expect(try await store.accepted(topics, after: PageCursor(before: 0), limit: 10).messages.isEmpty)
            let page = try await store.accepted(topics + [Self.topic], after: PageCursor(before: 0), limit: 1)
            #expect(page.messages.map(\.cursor) == [PageCursor(timestamp: 5, msiKey: message.msiKey)])
            #expect(page.end == PageCursor(timestamp: 5, msiKey: message.msiKey))
        }
    }

    @Test("Pages of many topics whose messages were accepted at the same time leave none out", arguments: StoreKind.allCases)
    func acceptedAtTheSameTime(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let topics = (0..<130).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
            var expected: [PageCursor] = []
            for (number, topic) in (topics + topics).enumerated() {
                var message = Self.message("\(number)", topic: topic)
                message.relay.accepted = UnixMilliseconds(rawValue: Int64(5 + number / 100))
                _ = try await store.insert(message)
                expected.append(PageCursor(timestamp: message.relay.accepted ?? 0, msiKey: message.msiKey))
            }
            expected.sort { ($0.timestamp, $0.msiKey) < ($1.timestamp, $1.msiKey) }
            var (read, after): ([ObjectID], PageCursor?) = ([], PageCursor(before: 0))
            while let position = after {
                // A topic that is named twice is read once.
                let page = try await store.accepted(topics + topics.prefix(3), after: position, limit: 7)
                read += page.messages.map(\.message.msiKey)
                after = page.end
            }
            #expect(read == expected.map(\.msiKey))
        }
    }

    @Test(
        "All accepted messages are read page by page, even if more than a page was accepted at the same time",
        arguments: StoreKind.allCases)
    func acceptedOfAllTopics(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            var expected: [AcceptedMessage] = []
            for (number, time) in [3, 5, 5, 5, 5, 5, 5, 5, 6, 7, 7, 7, 7, 9].enumerated() {
                let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
                var message = Self.message("\(number)", topic: topic)
                message.relay.accepted = UnixMilliseconds(rawValue: Int64(time))
                _ = try await store.insert(message)
                expected.append(
                    AcceptedMessage(
                        accepted: UnixMilliseconds(rawValue: Int64(time)),
                        message: PhoneMessage(
                            msiKey: message.msiKey, topicKey: topic, distribution: .alert, title: "\(number)",
                            desc: message.content.desc, message: message.content.message, timestamp: message.timestamp)))
            }
            _ = try await store.insert(Self.message("not accepted"))
            expected.sort { $0.cursor < $1.cursor }
            for limit in [1, 3, 4, 100] {
                var (read, after): ([AcceptedMessage], PageCursor?) = ([], PageCursor(before: 0))
                while let position = after, read.count <= expected.count {
                    let page = try await store.accepted(after: position, limit: limit)
                    read += page.messages
                    after = page.end
                }
                #expect(read == expected, "limit \(limit)")
            }
            let rest = try await store.accepted(after: expected[3].cursor, limit: 100)
            #expect(rest == AcceptedPage(messages: Array(expected.dropFirst(4)), end: nil))
        }
    }

    @Test("A page for a phone that has given up is not read", arguments: StoreKind.allCases)
    func acceptedForNobody(_ kind: StoreKind) async throws {
        try await withMessageStore(kind) { store in
            let late = CommandFailure(.deadlineExceeded, "too late")
            await #expect(throws: late) {
                try await store.accepted([Self.topic], after: PageCursor(before: 0), limit: 7) { throw late }
            }
        }
    }
}
