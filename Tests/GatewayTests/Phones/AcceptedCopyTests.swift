import FoundationEssentials
import Base
import NIOCore
import Schemas
import Testing

@testable import Gateway

/// The copy from which phones are answered.
@Suite("The copy of accepted messages")
struct AcceptedCopyTests {
    private static let topics = (0..<3).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
    private static let now: UnixMilliseconds = 1_800_000_000_000

    private static func message(_ number: Int, topic: Int = 0, at time: UnixMilliseconds? = nil) -> AcceptedMessage {
        AcceptedMessage(
            accepted: time ?? now - 1_000_000 + Milliseconds(rawValue: Int64(number)),
            message: PhoneMessage(
                msiKey: ObjectID(), topicKey: topics[topic], distribution: .information, title: "\(number)", desc: "d",
                message: "ابق \"q\"", timestamp: now, corrects: number == 2 ? ObjectID() : nil))
    }

    private static func copy(_ messages: [AcceptedMessage], maxBytes: Int = 1 << 20) throws -> AcceptedCopy {
        var copy = AcceptedCopy(from: PageCursor(before: now - ReadAccepted.reach), maxBytes: maxBytes)
        try copy.add(messages)
        copy.complete(to: PageCursor(before: now), now: now)
        return copy
    }

    private static func read(
        _ copy: AcceptedCopy, _ topics: [TopicKey] = topics, after: PageCursor? = nil
    ) throws -> ReadAccepted.Reply? {
        guard let page = copy.page(ReadAccepted(topics: topics, after: after), now: now) else { return nil }
        return try JSONCoder.decodeStrictly(from: Data(page.json.readableBytesView))
    }

    @Test("Messages of the wanted topics come in acceptance order, whatever the order in which they were added")
    func order() throws {
        let messages = (0..<9).map { Self.message($0, topic: $0 % 3) }
        let copy = try Self.copy([messages[4]] + messages.reversed() + messages)
        #expect(copy.count == 9)
        #expect(
            try Self.read(copy) == ReadAccepted.Reply(messages: messages.map(\.message), next: PageCursor(before: Self.now)))
        let some = [
            Self.topics[2], Self.topics[0], Self.topics[2], TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()),
        ]
        #expect(try Self.read(copy, some)?.messages.map(\.title) == ["0", "2", "3", "5", "6", "8"])
        #expect(try Self.read(copy, some, after: messages[3].cursor)?.messages.map(\.title) == ["5", "6", "8"])
        #expect(try Self.read(copy, after: messages[8].cursor)?.messages == [])
    }

    @Test("A phone reads page by page, and every message once")
    func pages() throws {
        let messages = (0..<250).map { Self.message($0, topic: $0 % 2) }
        let copy = try Self.copy(messages)
        var (read, after): ([String], PageCursor?) = ([], nil)
        var sizes: [Int] = []
        repeat {
            let page = try #require(try Self.read(copy, after: after))
            read += page.messages.map(\.title)
            sizes.append(page.messages.count)
            after = page.next
        } while sizes.last == 100
        #expect(sizes == [100, 100, 50])
        #expect(read == messages.map(\.message.title))
        #expect(after == PageCursor(before: Self.now))
    }

    @Test("The message log answers while the copy is filled, and what the copy has no room for")
    func reach() throws {
        var filling = AcceptedCopy(from: PageCursor(before: Self.now - ReadAccepted.reach))
        try filling.add([Self.message(1)])
        #expect(try Self.read(filling) == nil)

        let messages = (0..<20).map { Self.message($0) }
        let size = try Self.copy([messages[0]]).bytes
        var copy = try Self.copy(messages, maxBytes: size * 10)
        #expect(copy.count < 11 && copy.bytes <= size * 10)
        #expect(try Self.read(copy) == nil)
        let first = messages[20 - copy.count]
        #expect(try Self.read(copy, after: first.cursor)?.messages.count == copy.count - 1)
        let dropped = messages[19 - copy.count]
        #expect(try Self.read(copy, after: dropped.cursor)?.messages.count == copy.count)
        // What has no room is not added again.
        let before = copy.count
        try copy.add([dropped])
        #expect(copy.count == before)
    }

    @Test("A message that phones cannot fetch any more is forgotten, and a watermark that is behind changes nothing")
    func forgetting() throws {
        let old = Self.message(0, at: Self.now - ReadAccepted.reach + 10)
        var copy = try Self.copy([old, Self.message(1)])
        #expect(try Self.read(copy)?.messages.count == 2)
        copy.complete(to: PageCursor(before: 5), now: Self.now + 11)
        #expect(copy.count == 1 && copy.next == PageCursor(before: Self.now))
        #expect(copy.page(ReadAccepted(topics: Self.topics), now: Self.now + 11) != nil)
    }

    @Test("New messages are looked for a little before the last one")
    func tail() throws {
        var copy = try Self.copy([])
        #expect(copy.tail == PageCursor(before: Self.now))
        let late = Self.message(1, at: Self.now + 10_000)
        try copy.add([late])
        #expect(copy.tail < late.cursor && copy.tail > PageCursor(before: Self.now))
    }

    @Test("Alerts that wait, and those that were recalled, are beside the page of a phone with their topics, and do not move it")
    func alerts() throws {
        var copy = try Self.copy([Self.message(1)])
        let page = try #require(try Self.read(copy))
        #expect(page.waiting == nil && page.recalled == nil)
        let waiting = [Self.message(2, topic: 1).message, Self.message(3, topic: 2).message]
        let recalled = [1, 2].map { RecalledAlert(msiKey: ObjectID(), topicKey: Self.topics[$0]) }
        let asked = ContinuousClock.now
        try copy.replaceAlerts(waiting: waiting, recalled: recalled, asked: asked)
        // The answer to an earlier request comes later.
        try copy.replaceAlerts(waiting: [], recalled: [], asked: asked.advanced(by: .milliseconds(-1)))
        var expected = page
        (expected.waiting, expected.recalled) = (waiting, recalled.map(\.msiKey))
        #expect(try Self.read(copy) == expected)
        let one = try #require(try Self.read(copy, [Self.topics[1]]))
        #expect(one.messages.isEmpty && one.waiting == [waiting[0]] && one.recalled == [recalled[0].msiKey])
        #expect(try Self.read(copy, [Self.topics[0]]) == page)
        var full = try Self.copy((0..<100).map { Self.message($0) })
        try full.replaceAlerts(waiting: waiting, recalled: recalled, asked: asked)
        // They are beside the last page only.
        let first = try #require(try Self.read(full))
        #expect(first.messages.count == 100 && first.waiting == nil && first.recalled == nil)
        #expect(try Self.read(full, after: first.next)?.waiting == waiting)
        try copy.replaceAlerts(waiting: [], recalled: [], asked: asked)
        #expect(try Self.read(copy) == page)
    }
}
