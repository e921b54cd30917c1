import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Events of persons over the bus")
    struct PersonEventTests {
        /// A reader of the events after a moment at which the subscription works.
        private struct Events {
            private var iterator: AsyncStream<PersonChanged>.Iterator
            private(set) var last: PersonChanged

            init(_ people: RunningPeople) async throws {
                let subscriber = try EventSubscriber(
                    bus: people.bus, endpoints: ["ipc://\(people.folder)/run/people-events.sock"], names: [PersonChanged.name],
                    logger: quietLogger)
                let (stream, continuation) = AsyncStream<PersonChanged>.makeStream()
                Task {
                    for await event in subscriber.events {
                        guard case .event(_, let payload, _) = event else { continue }
                        continuation.yield(try JSONCoder.decode(from: payload))
                    }
                    continuation.finish()
                }
                // Makes events until one comes.
                try await people.addStudents("probe")
                let probe = people.student("probe")
                let repeats = Task {
                    while !Task.isCancelled { _ = try await probe.request(SetPushPreferences(PushPreferences(pushes: [:]))) }
                }
                iterator = stream.makeAsyncIterator()
                last = try #require(await iterator.next(isolation: #isolation))
                repeats.cancel()
                _ = await repeats.result
            }

            /// The next events, without those of the probe. Their numbers have no gap.
            mutating func next(_ count: Int) async throws -> Set<[String]> {
                var found: Set<[String]> = []
                while found.count < count {
                    let event = try #require(await iterator.next(isolation: #isolation))
                    #expect(event.epoch == last.epoch && event.number == last.number + 1)
                    last = event
                    if event.account != "probe" { found.insert(["\(event.account)", event.kind, event.id ?? ""]) }
                }
                return found
            }
        }

        @Test("Each change is told to those whom it concerns, with numbers that have no gap; a decline only to who declines")
        func events() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
                let (ann, bob) = (people.student("ann"), people.student("bob"))
                var events = try await Events(people)
                try await ann.ask("bob")
                #expect(try await events.next(2) == [["ann", "requests", "bob"], ["bob", "requests", "ann"]])
                try await bob.answer("ann", accept: false)
                #expect(try await events.next(1) == [["bob", "requests", "ann"]])
                try await bob.ask("ann")
                let friends = [["bob", "friends", "ann"], ["ann", "friends", "bob"], ["ann", "requests", "bob"]]
                #expect(try await events.next(3) == Set(friends))
                try await ann.block("bob")
                #expect(try await events.next(2) == [["ann", "friends", "bob"], ["bob", "friends", "ann"]])
                // Nothing changes for bob.
                try await ann.block("bob", false)
                #expect(try await events.next(1) == [["ann", "friends", "bob"]])
                _ = try await bob.request(SetProfile(Profile(bio: "x")))
                _ = try await bob.request(SetPushPreferences(PushPreferences(pushes: [:])))
                #expect(try await events.next(2) == [["bob", "profile", ""], ["bob", "preferences", ""]])
            }
        }
    }
}
