import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// What persons see of those with whom they are in a class. The study service knows who these are.
    @Suite("Classmates over the bus")
    struct ClassmateTests {
        private static func profile(_ name: String, first: Visibility?, last: Visibility? = nil) -> Profile {
            Profile(
                firstName: name, lastName: "Lee", bio: "Physics",
                visibility: ProfileVisibility(firstName: first, lastName: last, bio: .classmates))
        }

        private static func listed(
            _ accounts: [AccountName], for student: TestStudent
        ) async throws(CommandFailure) -> [PersonView] {
            try await student.request(ListClassmates(accounts)).people
        }

        @Test(
            "Friends, and classmates who show a name, are listed in the given order; all others are missing",
            arguments: StoreKind.ofRules)
        func list(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(
                kind, "me", "Shown", "silent", "friend", "asked", "asking", "blocked", "blocking", "gone", "decliner"
            ) { people in
                try await people.add("staff")
                let me = people.student("me")
                for name in ["shown", "asked", "asking", "blocked", "blocking", "gone", "decliner"] as [AccountName] {
                    _ = try await people.student(name).request(SetProfile(Self.profile("\(name)", first: .classmates)))
                }
                _ = try await people.student("silent").request(SetProfile(Self.profile("silent", first: .friends)))
                try await people.befriend("me", "friend")
                try await me.ask("asked")
                try await people.student("asking").ask("me")
                try await me.ask("decliner")
                try await people.student("decliner").answer("me", accept: false)
                try await me.block("blocked")
                try await people.student("blocking").block("me")
                _ = try await people.client.request(UpdateAccount("gone", disabled: true))

                let all: [AccountName] = [
                    "SHOWN", "gone", "friend", "silent", "staff", "blocking", "asking", "me", "nobody", "blocked", "decliner",
                    "asked",
                ]
                let found = try await Self.listed(all, for: me)
                #expect(found.map(\.account) == ["Shown", "friend", "asking", "decliner", "asked"])
                #expect(found.map(\.relation) == [.classmates, .friends, .received, .asked, .asked])
                #expect(found[0].account.description == "Shown" && found[0].bio == "Physics" && found[0].lastName == nil)
                #expect(found.map(\.firstName) == ["shown", nil, "asking", "decliner", "asked"])
                #expect(found.allSatisfy { $0.mutualFriends == nil })
                #expect(try await Self.listed([], for: me).isEmpty)
                // The one who has declined sees an ordinary classmate, who shows nothing.
                #expect(try await Self.listed(["me"], for: people.student("decliner")).isEmpty)
                let staff = await people.client.failure(of: ListClassmates(all), context: CallerContext(actor: "staff"))
                #expect(staff?.status == .forbidden)
                #expect(await people.client.failure(of: ListClassmates(all))?.status == .unauthenticated)
            }
        }

        @Test("A classmate sees the fields for classmates, also beside a request, and is no stranger for the limit of looks")
        func view() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob", "carl") { people in
                let (ann, bob) = (people.student("ann"), people.student("bob"))
                _ = try await bob.request(SetProfile(Self.profile("Bob", first: .classmates, last: .friends)))
                let stranger = try await ann.view("bob")
                #expect(stranger.relation == .stranger && stranger.firstName == nil)
                for _ in 0..<2 * PersonLimits.searchesPerMinute {
                    let seen = try await ann.request(ViewPerson("bob", classmate: true))
                    #expect(seen.relation == .classmates && seen.firstName == "Bob" && seen.lastName == nil)
                }
                try await ann.ask("bob")
                let asked = try await ann.request(ViewPerson("bob", classmate: true))
                #expect(asked.relation == .asked && asked.firstName == "Bob" && asked.lastName == nil)
                try await bob.answer("ann")
                let friend = try await ann.request(ViewPerson("bob", classmate: true))
                #expect(friend.relation == .friends && friend.lastName == "Lee" && friend.mutualFriends == [])
                try await bob.block("ann")
                #expect(await ann.failure(of: ViewPerson("bob", classmate: true))?.status == .notFound)
                let own = try await ann.request(ViewPerson("ann", classmate: true))
                #expect(own.relation == .oneself)
            }
        }
    }
}
