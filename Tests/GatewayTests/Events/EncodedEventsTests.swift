import Foundation
import NIOCore
import Schemas
import Testing

@testable import Gateway

/// Which streams share what is encoded.
@Suite("Encoded events")
struct EncodedEventsTests {
    private let channel = ObjectID()
    private let area = ObjectID()

    /// A cube whose subjects have the given access lists.
    private func cube(_ lists: [[String]], subjects: [ObjectID], version: CubeVersion, after known: CubeCopy? = nil) throws
        -> CubeCopy
    {
        let subjects = zip(lists, subjects).map { list, id in
            Subject(
                id: id, name: "\(id)", desc: "", access: list, topicKey: topic(id),
                opt: SubjectOptions(level: .optional, distribution: .alert))
        }
        let area = Area(id: area, name: "Weather", desc: "", access: [], subjects: subjects)
        return try CubeCopy(
            version: version, channels: [Schemas.Channel(id: channel, name: "Campus", desc: "", access: [], areas: [area])],
            after: known)
    }

    private func topic(_ subject: ObjectID) -> TopicKey { TopicKey(channel: channel, area: area, subject: subject) }

    private func rights(_ account: String, in cube: CubeCopy, role: Role = .communicator) throws -> StreamRights {
        let principal = try Principal.sample(role, account)
        return StreamRights(principal: principal, cube: cube.version, view: EventView(of: principal, in: cube))
    }

    private func entry(_ subject: ObjectID) -> MessageFeed.Entry {
        MessageFeed.Entry(topicKey: topic(subject), json: Data("{}".utf8))
    }

    @Test("A thousand communicators with the same lists share one copy of the events, and those of each other list another one")
    func shared() throws {
        let subjects = (0..<3).map { _ in ObjectID() }
        let cube = try cube([[], ["ann", "bob"], ["carl"]], subjects: subjects, version: 1)
        var events = EncodedEvents(.messages(subjects.map(entry)), positions: [])
        func count(_ account: String, _ role: Role = .communicator) throws -> Int {
            let bytes = try #require(events.bytes(for: try rights(account, in: cube, role: role)))
            return String(buffer: bytes).components(separatedBy: "event: message").count - 1
        }
        for number in 0..<1_000 { #expect(try count("student\(number)") == 1) }
        #expect(events.variants == 1)
        #expect(try count("ann") == 2 && count("bob") == 2 && events.variants == 2)
        #expect(try count("carl") == 2 && events.variants == 3)
        #expect(try count("root", .superUser) == 3 && events.variants == 4)
        var hidden = EncodedEvents(.messages([entry(subjects[1])]), positions: [])
        #expect(try hidden.bytes(for: rights("carl", in: cube)) == nil && hidden.variants == 0)
    }

    @Test("A view stays the same if the cube changes and its lists do not; it has other topics only if its own lists change")
    func views() throws {
        let subjects = (0..<3).map { _ in ObjectID() }
        let first = try cube([[], ["ann"], ["bob"]], subjects: subjects, version: 1)
        // Another order of the subjects is another cube with the same lists.
        let same = try cube([["bob"], ["ann"], []], subjects: subjects.reversed(), version: 2, after: first)
        #expect(same.lists == first.lists)
        for account in ["ann", "bob", "carl"] {
            #expect(try rights(account, in: first).view == rights(account, in: same).view)
        }
        let changed = try cube([[], ["ann", "carl"], ["bob"]], subjects: subjects, version: 3, after: same)
        #expect(changed.lists != same.lists)
        for (account, isSame) in [("ann", true), ("bob", true), ("carl", false), ("dora", true)] {
            let (before, after) = try (rights(account, in: same).view, rights(account, in: changed).view)
            #expect(before != after && after.hasSameTopics(as: before) == isSame, "\(account)")
        }
    }
}
