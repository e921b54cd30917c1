import FoundationEssentials
import Schemas
import Testing

@testable import Gateway

/// The ring of persons' latest events.
@Suite("Feed of persons' events")
struct PersonFeedTests {
    private let epoch = ObjectID()

    private func event(_ number: Int64, _ account: String = "ann", epoch: ObjectID? = nil) -> PersonChanged {
        PersonChanged(epoch: epoch ?? self.epoch, number: number, account: .sample(account), kind: "friends")
    }

    /// Adds events that follow each other. Their JSON is their number.
    private func filled(_ accounts: [String], capacity: Int = 100) -> PersonFeed {
        var feed = PersonFeed(capacity: capacity)
        for (index, account) in accounts.enumerated() {
            _ = feed.add(event(Int64(index + 1), account), from: .people, json: Data("\(index + 1)".utf8))
        }
        return feed
    }

    private func missed(_ feed: PersonFeed, _ account: String, after position: String) -> [String]? {
        feed.events(of: .sample(account), after: position)?.map { String(decoding: $0.json, as: UTF8.self) }
    }

    @Test("A client that comes back gets the events of the same account after its position, by any spelling of the name")
    func resume() {
        var feed = PersonFeed()
        let first = feed.position
        #expect(missed(feed, "ann", after: first) == [])
        for number in 1...4 {
            _ = feed.add(event(Int64(number), number == 2 ? "bob" : "Ann"), from: .people, json: Data("\(number)".utf8))
        }
        #expect(missed(feed, "ann", after: first) == ["1", "3", "4"] && missed(feed, "bob", after: first) == ["2"])
        #expect(missed(feed, "carl", after: first) == [] && missed(feed, "ann", after: feed.position) == [])
    }

    @Test("A position that is too old, to come, of another process or no position at all is unknown")
    func unknown() {
        let feed = filled(Array(repeating: "ann", count: 15), capacity: 10)
        let process = feed.position.split(separator: "-")[0]
        #expect(missed(feed, "ann", after: "\(process)-5")?.count == 10)
        for position in [
            "\(process)-4", "\(process)-0", "\(process)-16", "\(process)--1", "\(process)-x", "\(process)-", "\(process)", "",
            "\(ObjectID())-15", "nonsense-15", "\(process)-9223372036854775808",
        ] {
            #expect(missed(feed, "ann", after: position) == nil, "\(position)")
        }
    }

    @Test("After a gap in the numbers of an instance of the people service, or a lost connection, earlier positions are unknown")
    func gaps() {
        var feed = filled(["ann", "bob"])
        for next in [event(4), event(4), event(1)] {
            let before = feed.position
            let isGap = feed.add(next, from: .people, json: Data("x".utf8))
            #expect(isGap && missed(feed, "ann", after: before) == nil && missed(feed, "ann", after: feed.position) == [])
        }
        let before = feed.position
        feed.lose(.people)
        #expect(missed(feed, "ann", after: before) == nil && missed(feed, "ann", after: feed.position) == [])
        // The next event may have any number.
        let isGap = feed.add(event(70), from: .people, json: Data())
        #expect(!isGap)
    }

    @Test("Each instance of the people service has its own numbers")
    func instances() {
        var feed = filled(["ann", "bob"])
        let start = feed.position
        let other = ObjectID()
        for next in [event(7, epoch: other), event(3), event(8, epoch: other), event(4)] {
            let isGap = feed.add(next, from: .people, json: Data("x".utf8))
            #expect(!isGap)
        }
        #expect(missed(feed, "ann", after: start)?.count == 4)
        let isGap = feed.add(event(10, epoch: other), from: .people, json: Data())
        #expect(isGap && missed(feed, "ann", after: start) == nil)
    }

    @Test("Each service has its own numbers, and its own gaps and losses; a client misses nothing of the others")
    func services() {
        var feed = filled(["ann", "bob"])
        let other = ObjectID()
        let isFirstGap = feed.add(event(9, epoch: other), from: .study, json: Data("s".utf8))
        #expect(!isFirstGap && missed(feed, "ann", after: "\(feed.position.split(separator: "-")[0])-0") == ["1", "s"])
        feed.lose(.study)
        // The numbers of the other service are still known.
        let isGap = feed.add(event(4), from: .people, json: Data("x".utf8))
        #expect(isGap)
        let isOtherGap = feed.add(event(20, epoch: other), from: .study, json: Data("y".utf8))
        #expect(!isOtherGap)
    }

    @Test("The classes in a query are ids with commas between them, each once, or none")
    func classes() {
        let (one, other) = (ObjectID(), ObjectID())
        #expect(ClassIDs("")?.ids == [] && ClassIDs("\(one)")?.ids == [one])
        #expect(ClassIDs("\(one),\(other),\(one)")?.ids == [one, other])
        let all = (0..<101).map { _ in "\(ObjectID())" }
        #expect(ClassIDs(all.dropLast().joined(separator: ","))?.ids.count == 100)
        for text in [",", "\(one),", "x", "\(one) ", all.joined(separator: ",")] { #expect(ClassIDs(text) == nil, "\(text)") }
    }
}
