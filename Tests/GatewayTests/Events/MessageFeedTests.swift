import FoundationEssentials
import Base
import Schemas
import Testing

@testable import Gateway

@Suite("The gateway's copy of the message logs' changes")
struct MessageFeedTests {
    private let epoch = ObjectID()
    private let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private func page(
        of epoch: ObjectID? = nil, from first: Int64, count: Int64, latest: Int64? = nil
    ) throws -> MessageFeed.Page {
        let changes = try (0..<count).map { offset -> MessageChange in
            try JSONCoder.decode(
                from: Data(
                    """
                    {"msi_key":"\(ObjectID())","topic_key":"\(topic)","state":"pending","timestamp":1,"changed":2,\
                    "title":"\(first + offset)","sender":"Ann"}
                    """.utf8))
        }
        return try MessageFeed.Page(
            ReadMessageChanges.Reply(
                epoch: epoch ?? self.epoch, first: first, changes: changes, latest: latest ?? first + count - 1))
    }

    private func titles(_ entries: [MessageFeed.Entry]?) throws -> [String]? {
        try entries?.map { try JSONCoder.decode(MessageChange.self, from: $0.json).title }
    }

    private func titles(_ news: MessageFeed.News) throws -> [String]? {
        if case .changes(let entries) = news { try titles(entries) } else { nil }
    }

    private func isGap(_ news: MessageFeed.News) -> Bool {
        if case .gap = news { true } else { false }
    }

    private func isNothing(_ news: MessageFeed.News) -> Bool {
        if case .nothing = news { true } else { false }
    }

    @Test("What a message log has told before the gateway knew it is loaded page by page, without an event for each change")
    func loading() throws {
        var feed = MessageFeed()
        #expect(feed.position(of: 0) == nil)
        let first = try page(from: 1, count: 2, latest: 3)
        #expect(isNothing(feed.add(first, from: 0)))
        #expect(feed.changes(after: [ChangePosition(epoch: epoch, number: 2)]) == nil)
        let second = try page(from: 3, count: 1)
        #expect(isGap(feed.add(second, from: 0)))
        #expect(feed.position(of: 0) == ChangePosition(epoch: epoch, number: 3))
        let third = try page(from: 4, count: 2)
        #expect(try titles(feed.add(third, from: 0)) == ["4", "5"])
        let none = try page(from: 6, count: 0)
        #expect(isNothing(feed.add(none, from: 0)))
    }

    @Test("A client that resumes gets what came after its position, and nothing twice")
    func resuming() throws {
        var feed = MessageFeed()
        _ = feed.add(try page(from: 1, count: 3), from: 0)
        func missed(_ number: Int64) throws -> [String]? {
            try titles(feed.changes(after: [ChangePosition(epoch: epoch, number: number)]))
        }
        #expect(try missed(0) == ["1", "2", "3"])
        #expect(try missed(2) == ["3"])
        #expect(try missed(3) == [])
        // The client was at another gateway, which has heard more.
        #expect(try missed(9) == [])
    }

    @Test("Where changes may be missing, there is no answer: another process, a forgotten change, a message log that is away")
    func gaps() throws {
        var feed = MessageFeed(capacity: 2)
        #expect(feed.changes(after: [ChangePosition(epoch: epoch, number: 1)]) == nil)
        #expect(try titles(feed.changes(after: [])) == [])
        _ = feed.add(try page(from: 1, count: 3), from: 0)
        #expect(try titles(feed.changes(after: [ChangePosition(epoch: epoch, number: 1)])) == ["2", "3"])
        #expect(feed.changes(after: [ChangePosition(epoch: epoch, number: 0)]) == nil)
        #expect(feed.changes(after: []) == nil)
        // The ring of the message log has moved on.
        let later = try page(from: 9, count: 1)
        #expect(isGap(feed.add(later, from: 0)))
        #expect(feed.changes(after: [ChangePosition(epoch: epoch, number: 3)]) == nil)
        let restarted = try page(of: ObjectID(), from: 1, count: 1)
        #expect(isGap(feed.add(restarted, from: 0)))
        #expect(feed.changes(after: [ChangePosition(epoch: epoch, number: 9)]) == nil)
        // A gateway that has started together with the message log.
        var new = MessageFeed()
        _ = new.add(try page(of: ObjectID(), from: 1, count: 1), from: 0)
        #expect(new.changes(after: [ChangePosition(epoch: epoch, number: 1)]) == nil)
    }

    @Test("Each message log has its own position, and one that has started since is read from its beginning")
    func severalLogs() throws {
        var feed = MessageFeed()
        let other = ObjectID()
        _ = feed.add(try page(from: 1, count: 2), from: 0)
        _ = feed.add(try page(of: other, from: 1, count: 1), from: 1)
        #expect(try titles(feed.changes(after: [ChangePosition(epoch: epoch, number: 1)])) == ["2", "1"])
        let both = [ChangePosition(epoch: epoch, number: 2), ChangePosition(epoch: other, number: 0)]
        #expect(try titles(feed.changes(after: both)) == ["1"])
    }

    @Test("After a message log has gone, only those resume who know a later change of another one")
    func removal() throws {
        var feed = MessageFeed()
        let other = ObjectID()
        _ = feed.add(try page(from: 1, count: 2), from: 0)
        _ = feed.add(try page(of: other, from: 1, count: 2), from: 1)
        feed.remove(1)
        #expect(feed.position(of: 1) == nil && feed.positions == [ChangePosition(epoch: epoch, number: 2)])
        func missed(_ numbers: Int64...) throws -> [String]? {
            let known = zip([epoch, other], numbers).map { ChangePosition(epoch: $0, number: $1) }
            return try titles(feed.changes(after: known))
        }
        #expect(try missed(2, 2) == nil && missed(2) == nil)
        _ = feed.add(try page(from: 3, count: 2), from: 0)
        #expect(try missed(2) == nil)
        #expect(try missed(3) == ["4"])
    }

    @Test("A position is written in a header and read back; anything else is refused")
    func position() throws {
        let position = EventPosition(
            seesAll: false, cube: 17,
            changes: [ChangePosition(epoch: epoch, number: 4), ChangePosition(epoch: ObjectID(), number: 0)])
        #expect(EventPosition(position.description) == position)
        #expect(EventPosition("a0") == EventPosition(seesAll: true, cube: 0, changes: []))
        let malformed = [
            "", "a", "x1", "a1.", "a1.\(epoch)", "a1.\(epoch)--1", "a1.y-1", "a1..", String(repeating: "a", count: 9_000),
        ]
        for text in malformed { #expect(EventPosition(text) == nil, "\(text)") }
    }
}
