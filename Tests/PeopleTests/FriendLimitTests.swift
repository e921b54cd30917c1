import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import People

/// How many requests, friends and blocked ones a person has, and how many persons they may look for.
@Suite("Limits of friends", .timeLimit(.minutes(10)))
struct FriendLimitTests {
    @Test("A person may look thirty times a minute and three hundred times a day, and then waits for the next window")
    func looks() {
        var limit = LookLimit()
        var now = ContinuousClock.now
        for window in 0..<10 {
            for _ in 0..<30 { #expect(limit.look(by: "ann", now: now) == nil) }
            let wait = limit.look(by: "ann", now: now + .seconds(20))
            // The last minute of the day's limit waits for the next day.
            #expect(window < 9 ? wait == .seconds(40) : wait == .seconds(86_400 - 9 * 60 - 20))
            now += .seconds(60)
        }
        #expect(limit.look(by: "bob", now: now) == nil)
        #expect(limit.look(by: "ann", now: now) == .seconds(86_400 - 600))
        now += .seconds(86_400 - 600)
        #expect(limit.look(by: "ann", now: now) == nil)
    }

    @Test("Searches and looks at strangers count together, whether somebody is found or not; looks at friends do not count")
    func enumeration() async throws {
        try await RunningPeople.withStudents(.sqlite, "ann", "bob", "carl", "dan") { people in
            let ann = people.student("ann")
            try await people.student("bob").ask("ann")
            try await people.student("carl").ask("ann")
            try await ann.answer("bob")
            for number in 0..<PersonLimits.searchesPerMinute {
                switch number % 4 {
                case 0: _ = try await ann.found("bob")
                case 1: _ = try await ann.view("dan")
                case 2: #expect(await ann.failure(of: ViewPerson("nobody"))?.status == .notFound)
                default: #expect(await ann.failure(of: AskFriend("nobody", from: ann.device))?.status == .notFound)
                }
            }
            for failure in [
                await ann.failure(of: SearchPersons("bob")), await ann.failure(of: ViewPerson("dan")),
                await ann.failure(of: ViewPerson("nobody")), await ann.failure(of: AskFriend("dan", from: ann.device)),
                await ann.failure(of: BlockPerson("dan", blocked: true)),
            ] {
                #expect(failure?.status == .overloaded)
                #expect(failure?.retryAfter.map { $0 > 0 && $0 <= 60_000 } == true)
            }
            #expect(try await ann.view("bob").relation == .friends)
            #expect(try await ann.view("carl").relation == .received)
            #expect(try await ann.view("ann").relation == .oneself)
            #expect(try await ann.ask("carl") == .friends)
            #expect(try await people.student("dan").found("bob") == ["bob"])
        }
    }

    /// Runs a test with a service that is started again after one side of each of a number of relations was stored.
    private static func with(
        _ states: [(owner: String, Friendship.State, Int)], _ body: (RunningPeople) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await RunningPeople.with(in: folder) { people in
                try await people.setUp()
                try await people.addStudents("ann", "bob", "carl")
            }
            try await withPeopleStore(in: folder) { store in
                let sides = states.flatMap { owner, state, count in
                    (0..<count).map { FriendshipDocument(of: owner, with: "\(owner)-\(state)-\($0)", state, at: .now) }
                }
                try await store.transaction { try $0.insert(all: sides, into: PeopleStore.friendships) }
            }
            try await RunningPeople.with(in: folder, body)
        }
    }

    @Test("A further own request, friend or blocked one is refused with the reason; that of the other one without it")
    func numbers() async throws {
        let full: [(owner: String, Friendship.State, Int)] = [
            ("ann", .asked, PersonLimits.maxAsked), ("ann", .blocked, PersonLimits.maxBlocked),
            ("bob", .received, PersonLimits.maxReceived), ("bob", .friends, PersonLimits.maxFriends),
        ]
        try await Self.with(full) { people in
            let (ann, bob, carl) = (people.student("ann"), people.student("bob"), people.student("carl"))
            let asked = await ann.failure(of: AskFriend("carl", from: ann.device))
            #expect(asked?.status == .conflict && asked?.message.contains("\(PersonLimits.maxAsked)") == true)
            let blocked = await ann.failure(of: BlockPerson("carl", blocked: true))
            #expect(blocked?.status == .conflict && blocked?.message.contains("\(PersonLimits.maxBlocked)") == true)
            // Bob's requests are full.
            let later = await carl.failure(of: AskFriend("bob", from: carl.device))
            #expect(later?.status == .conflict && later?.message == "that is not possible now; try again later")
            // His friends are as well, so a request of his own cannot be accepted.
            #expect(try await bob.ask("carl") == .asked)
            #expect(await carl.failure(of: AnswerFriend("bob", accept: true)) == later)
            #expect(await carl.failure(of: AskFriend("bob", from: carl.device)) == later)
            try await carl.ask("ann")
            #expect(try await ann.ask("carl") == .friends)
        }
    }

    @Test("A declined request is forgotten after thirty days")
    func forgottenDecline() async throws {
        try await withTemporaryFolder { folder in
            let declined = FriendshipDocument(of: "bob", with: "ann", .declined, at: .now)
            #expect(declined.expires == declined.at + .seconds(30 * 86_400))
            try await RunningPeople.with(in: folder) { people in
                try await people.setUp()
                try await people.addStudents("ann", "bob")
                try await people.student("ann").ask("bob")
                try await people.student("bob").answer("ann", accept: false)
            }
            try await withPeopleStore(in: folder) { store in
                let side = try #require(try await store.snapshot { try $0.friendship(of: "bob", with: "ann") })
                _ = try await store.update(side.id, in: PeopleStore.friendships) {
                    $0.become(.declined, at: .now - PersonLimits.declinedTime)
                }
            }
            try await RunningPeople.with(in: folder) { people in
                let (ann, bob) = (people.student("ann"), people.student("bob"))
                let waiting = try await ann.relations()
                #expect(waiting == .init(asked: ["bob"]))
                #expect(try await ann.ask("bob") == .asked)
                #expect(try await bob.relations() == .init(received: ["ann"]))
            }
        }
    }
}
