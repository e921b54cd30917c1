import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Friends over the bus")
    struct FriendTests {
        @Test("A request waits at both, and its answer makes friends until one of them ends it", arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(kind, "Ann.Lee", "bob") { people in
                let (ann, bob) = (people.student("ann.lee"), people.student("bob"))
                #expect(try await ann.ask("BOB") == .asked)
                // Repeated, as after a lost answer.
                #expect(try await ann.ask("bob") == .asked)
                #expect(try await ann.relations() == .init(asked: ["bob"]))
                #expect(try await bob.relations() == .init(received: ["ann.lee"]))
                for _ in 0..<2 { try await bob.answer("ann.lee") }
                #expect(try await ann.relations() == .init(friends: ["bob"]))
                let friends = try await bob.request(ListFriends()).friends
                #expect(friends.map(\.description) == ["Ann.Lee"])
                #expect(try await ann.ask("bob") == .friends)
                for _ in 0..<2 { try await ann.remove("bob") }
                #expect(try await ann.relations() == .init())
                #expect(try await bob.relations() == .init())
            }
        }

        @Test("Who asks the one by whom they were asked is a friend, also of two at the same time", arguments: StoreKind.allCases)
        func bothAsk(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(kind, "ann", "bob", "eve") { people in
                let (ann, bob, eve) = (people.student("ann"), people.student("bob"), people.student("eve"))
                try await ann.ask("bob")
                #expect(try await bob.ask("ann") == .friends)
                async let one = ann.ask("eve")
                async let other = eve.ask("ann")
                let states = try await [one, other]
                #expect(Set(states) == [.asked, .friends])
                #expect(try await ann.relations() == .init(friends: ["bob", "eve"]))
                #expect(try await eve.relations() == .init(friends: ["ann"]))
            }
        }

        @Test("Who is declined is not told, and their next request is not shown; the other one can still ask")
        func declined() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
                let (ann, bob) = (people.student("ann"), people.student("bob"))
                try await ann.ask("bob")
                for _ in 0..<2 { try await bob.answer("ann", accept: false) }
                #expect(try await ann.relations() == .init(asked: ["bob"]))
                #expect(try await bob.relations() == .init())
                #expect(try await ann.ask("bob") == .asked)
                try await ann.remove("bob")
                #expect(try await ann.ask("bob") == .asked)
                // Nor does it help to block and unblock.
                try await ann.block("bob")
                try await ann.block("bob", false)
                #expect(try await ann.ask("bob") == .asked)
                #expect(try await bob.relations() == .init())
                #expect(await bob.failure(of: AnswerFriend("ann", accept: true))?.status == .notFound)
                #expect(try await bob.ask("ann") == .friends)
            }
        }

        @Test(
            "After blocking, neither finds the other, with the answer of a person who does not exist",
            arguments: StoreKind.ofRules)
        func blocked(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(kind, "ann", "bob", "carl") { people in
                let (ann, bob) = (people.student("ann"), people.student("bob"))
                try await people.befriend("ann", "bob")
                try await people.befriend("ann", "carl")
                try await people.befriend("bob", "carl")
                #expect(try await ann.view("carl").mutualFriends == ["bob"])
                for _ in 0..<2 { try await ann.block("bob") }
                #expect(try await ann.relations() == .init(friends: ["carl"], blocked: ["bob"]))
                #expect(try await bob.relations() == .init(friends: ["carl"]))
                #expect(try await ann.view("carl").mutualFriends == [])
                for (student, other) in [(ann, "bob"), (bob, "ann")] as [(TestStudent, AccountName)] {
                    for name in [other, "nobody"] as [AccountName] {
                        let noPerson = CommandFailure.noPerson(name)
                        #expect(await student.failure(of: ViewPerson(name)) == noPerson)
                        #expect(await student.failure(of: AskFriend(name, from: ObjectID())) == noPerson)
                        let noRequest = CommandFailure(.notFound, "no request of \(name)")
                        for accept in [true, false] {
                            #expect(await student.failure(of: AnswerFriend(name, accept: accept)) == noRequest)
                        }
                        try await student.remove(name)
                    }
                }
                #expect(await bob.failure(of: BlockPerson("ann", blocked: true)) == .noPerson("ann"))
                #expect(try await bob.found("ann") == [])
                #expect(try await ann.found("bob") == [])
                for student in [bob, ann] {
                    for name in ["ann", "bob", "nobody"] as [AccountName] where name != student.name {
                        try await student.block(name, false)
                    }
                }
                #expect(try await ann.relations() == .init(friends: ["carl"]))
                #expect(try await bob.found("ann") == ["ann"])
                #expect(try await bob.view("ann").relation == .stranger)
            }
        }

        @Test("A disabled student, one of the staff and an unknown name are not found, and leave the lists")
        func notFound() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob", "carl") { people in
                let ann = people.student("ann")
                try await people.befriend("ann", "bob")
                try await people.student("carl").ask("ann")
                for name in ["bob", "carl"] as [AccountName] {
                    _ = try await people.client.request(UpdateAccount(name, disabled: true))
                }
                #expect(try await ann.relations() == .init())
                for name in ["bob", "carl", "admin", "nobody"] as [AccountName] {
                    #expect(await ann.failure(of: ViewPerson(name)) == .noPerson(name))
                    #expect(await ann.failure(of: AskFriend(name, from: ann.device)) == .noPerson(name))
                    #expect(await ann.failure(of: AnswerFriend(name, accept: true))?.status == .notFound)
                    #expect(await ann.failure(of: BlockPerson(name, blocked: true)) == .noPerson(name))
                }
                _ = try await people.client.request(UpdateAccount("bob", disabled: false))
                #expect(try await ann.relations() == .init(friends: ["bob"]))
            }
        }

        @Test("The caller is a student whose account is enabled, and another person than the one that the command is about")
        func callers() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
                let ann = people.student("ann")
                for command in [AskFriend("ANN", from: ann.device), AskFriend("ann", from: ann.device)] {
                    let failure = await ann.failure(of: command)
                    #expect(failure?.status == .invalid && failure?.field == "account")
                }
                #expect(await people.student("admin").failure(of: AskFriend("ann", from: ObjectID()))?.status == .forbidden)
                #expect(await people.student("admin").failure(of: ListFriends())?.status == .forbidden)
                #expect(await people.client.failure(of: ListFriends())?.status == .unauthenticated)
                _ = try await people.client.request(UpdateAccount("bob", disabled: true))
                for name in ["bob", "nobody"] as [AccountName] {
                    #expect(await people.student(name).failure(of: ListFriends())?.status == .unauthenticated)
                    #expect(await people.student(name).failure(of: GetProfile())?.status == .unauthenticated)
                }
            }
        }

        @Test("What students do with each other is not in the audit log")
        func audit() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
                let before = try await people.client.request(ListAuditEntries(limit: 100)).entries.count
                try await people.befriend("ann", "bob")
                try await people.student("ann").block("bob")
                _ = try await people.student("ann").request(SetProfile(Profile(bio: "Physics")))
                #expect(try await people.client.request(ListAuditEntries(limit: 100)).entries.count == before)
            }
        }
    }
}
