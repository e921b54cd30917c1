import Base
import Bus
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// Statuses: who sees them, for how long, and who is told that they were seen.
@Suite("Statuses over the bus", .timeLimit(.minutes(10)))
struct StatusTests {
    /// All know each other, unless a test parts them.
    private static func people() -> PeopleDouble { PeopleDouble("ann", "bob", "cleo") }

    @Test("Friends see a status, and its person by how many it was seen", arguments: StoreKind.ofRules)
    func seen(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock, people: Self.people()) { messaging in
            let (ann, bob, cleo) = (messaging.person("ann"), messaging.person("bob"), messaging.person("cleo"))
            messaging.people.part("ann", "cleo")
            let own = try await ann.setStatus("In the library until six")
            #expect(own.text == "In the library until six" && own.seen == 0 && own.picture == nil)
            #expect(own.at == clock.now && own.expires == clock.now + .seconds(86_400))
            clock.pass(1_000)
            let later = try await bob.setStatus("Who has the notes?")

            let list = try await bob.statuses()
            let expected = PersonStatus(
                id: own.id, account: "ann", text: own.text, picture: nil, at: own.at, expires: own.expires, seen: false)
            #expect(list.statuses == [expected] && list.own == later && list.now == clock.now)
            #expect(try await ann.statuses().statuses.map(\.id) == [later.id])
            #expect(try await cleo.statuses().statuses.map(\.id) == [later.id])
            let latest = try await cleo.setStatus("x")
            clock.pass(1)
            // The newest first.
            #expect(try await bob.statuses().statuses.map(\.id) == [latest.id, own.id])

            // Once each, and not those of oneself or of others.
            for _ in 0..<2 { try await bob.see(own.id, own.id, later.id, ObjectID()) }
            try await cleo.see(own.id)
            try await ann.see(own.id, later.id)
            #expect(try await bob.statuses().statuses.map(\.seen) == [false, true])
            #expect(try await ann.ownStatus()?.seen == 1)
            #expect(try await bob.ownStatus()?.seen == 1)
            #expect(try await messaging.person("nobody").ownStatus() == nil)
        }
    }

    @Test("Another status takes the place of the one before, and who has seen that goes with it", arguments: StoreKind.ofRules)
    func replaced(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock, people: Self.people()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let first = try await ann.setStatus("one", key: "k1")
            try await bob.see(first.id)
            clock.pass(5_000)
            // A repetition is the same status, with how it is now.
            let repeated = try await ann.setStatus("one", key: "k1")
            #expect(repeated.id == first.id && repeated.expires == first.expires && repeated.seen == 1)
            let other = await ann.failure(of: SetStatus(StatusDraft(text: "two"), requestKey: "k1"))
            #expect(other?.status == .conflict && other?.field == "request_key")

            let upload = try await ann.upload(SamplePicture.png.bytes)
            let second = try await ann.setStatus(picture: upload, key: "k2")
            #expect(second.id != first.id && second.seen == 0 && second.text == nil && second.picture?.width == 12)
            #expect(try await ann.setStatus(picture: upload, key: "k2") == second)
            let otherPicture = await ann.failure(of: SetStatus(StatusDraft(picture: ObjectID()), requestKey: "k2"))
            #expect(otherPicture?.field == "request_key")
            try await bob.see(first.id)
            let seen = try await bob.statuses().statuses
            #expect(seen.map(\.id) == [second.id] && seen.map(\.seen) == [false])
            #expect(seen.first?.picture == second.picture)

            for _ in 0..<2 { try await ann.request(RemoveStatus()) }
            #expect(try await bob.statuses().statuses.isEmpty)
            #expect(try await ann.ownStatus() == nil)
            // Nothing refused has changed anything.
            let third = try await ann.setStatus("three")
            #expect(await ann.failure(of: SetStatus(StatusDraft(picture: upload)))?.field == "picture")
            #expect(try await ann.ownStatus() == third)
        }
    }

    @Test("A status ends after 24 hours, to the millisecond", arguments: StoreKind.ofRules)
    func end(kind: StoreKind) async throws {
        let clock = TestClock()
        try await RunningMessaging.with(kind, clock: clock, people: Self.people()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let status = try await ann.setStatus("until tomorrow", key: "k")
            clock.pass(.seconds(86_400) - 1)
            #expect(try await bob.statuses().statuses.map(\.id) == [status.id])
            #expect(try await ann.ownStatus() == status)
            clock.pass(1)
            #expect(try await bob.statuses().statuses.isEmpty)
            #expect(try await ann.statuses().own == nil)
            #expect(try await ann.ownStatus() == nil)
            try await bob.see(status.id)
            // The key is free again.
            let next = try await ann.setStatus("another day", key: "k")
            #expect(next.id != status.id && next.seen == 0)
        }
    }

    @Test("Whoever is no friend any more sees nothing, and neither does anybody while people cannot be asked")
    func parted() async throws {
        try await RunningMessaging.with(people: Self.people()) { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let status = try await ann.setStatus("for friends")
            for part in [messaging.people.part, messaging.people.block] {
                part("ann", "bob")
                #expect(try await bob.statuses().statuses.isEmpty)
                try await bob.see(status.id)
                messaging.people.befriend("ann", "bob")
                #expect(try await bob.statuses().statuses.map(\.id) == [status.id])
            }
            #expect(try await ann.ownStatus()?.seen == 0)
            messaging.people.disable("ann")
            #expect(try await bob.statuses().statuses.isEmpty)
            messaging.people.failure = CommandFailure(.unavailable, "away")
            #expect(await bob.failure(of: ListStatuses(on: ObjectID()))?.status == .unavailable)
            #expect(await bob.failure(of: MarkStatusesSeen(SeenStatuses(statuses: [status.id])))?.status == .unavailable)
            // One's own needs nobody.
            try await ann.setStatus("mine")
            #expect(try await ann.ownStatus()?.text == "mine")
        }
    }

    @Test("A device asks each 30 seconds, and a person sets as many statuses as the rules say")
    func limits() async throws {
        let clock = TestClock()
        let settings = ["MSI_MESSAGING_PER_MINUTE": "2", "MSI_MESSAGING_POLL": "30"]
        try await RunningMessaging.with(settings: settings, clock: clock, people: Self.people()) { messaging in
            let ann = messaging.person("ann")
            let list = ListStatuses(on: ann.device)
            try await ann.request(list)
            clock.pass(29_999)
            let early = await ann.failure(of: list)
            #expect(early?.status == .overloaded && early?.retryAfter == 1)
            _ = try await ann.statuses()
            clock.pass(1)
            try await ann.request(list)

            try await ann.setStatus("one", key: "k")
            try await ann.setStatus("one", key: "k")
            try await ann.setStatus("two")
            let late = await ann.failure(of: SetStatus(StatusDraft(text: "three")))
            #expect(late?.status == .overloaded && late?.retryAfter != nil)
            try await messaging.person("bob").setStatus("mine")
            clock.pass(.seconds(61))
            try await ann.setStatus("three")
        }
    }

    @Test("A status has a text or a picture, of a person who is there")
    func refused() async throws {
        try await RunningMessaging.with(people: Self.people()) { messaging in
            let ann = messaging.person("ann")
            for draft in [
                StatusDraft(), StatusDraft(text: "x", picture: ObjectID()), StatusDraft(text: ""),
                StatusDraft(text: String(repeating: "x", count: 501)),
            ] {
                let failure = await ann.failure(of: SetStatus(draft))
                #expect(failure?.status == .invalid && failure?.field?.hasSuffix("text") == true)
            }
            try await ann.setStatus(String(repeating: "ü", count: 500))
            #expect(await ann.failure(of: MarkStatusesSeen(SeenStatuses(statuses: [])))?.status == .invalid)
            #expect(await messaging.client.failure(of: SetStatus(StatusDraft(text: "x")))?.status == .unauthenticated)
            try await messaging.withStore { store in
                let erased = ErasedPersonDocument(
                    id: ErasedPersonDocument.identifier(of: "bob"), expires: UnixMilliseconds.now + .seconds(3_600))
                try await store.insert(erased, into: MessagingStore.erased)
            }
            #expect(await messaging.person("bob").failure(of: SetStatus(StatusDraft(text: "x")))?.status == .unauthenticated)
        }
    }
}
