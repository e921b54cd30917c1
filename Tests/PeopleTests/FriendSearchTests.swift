import Base
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// Whom a person finds, and what they see of them.
    @Suite("Persons over the bus")
    struct FriendSearchTests {
        @Test("A search finds the first ten names of students that begin with the text", arguments: StoreKind.allCases)
        func search(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(kind, "me", "Ann", "anna", "anne", "an", "bob") { people in
                try await people.add("annstaff")
                try await people.addStudents("annex")
                _ = try await people.client.request(UpdateAccount("annex", disabled: true))
                let me = people.student("me")
                let found = try await me.found("aNN")
                #expect(found.map(\.description) == ["Ann", "anna", "anne"])
                #expect(try await people.student("ann").found("ann") == ["anna", "anne"])
                for text in ["annn", "a*n", "änn"] { #expect(try await me.found(text) == []) }
                let many = try (10..<25).map { try #require(AccountName("zz.\($0)")) }
                for name in many { try await people.addStudents(name) }
                #expect(try await me.found("zz.") == Array(many.prefix(PersonLimits.maxFound)))
                #expect(await me.failure(of: SearchPersons("zz"))?.field == "text")
            }
        }

        @Test("Each field of a profile is seen by those whom its person has chosen, and by nobody else")
        func fields() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "friend", "asked", "received", "stranger") { people in
                let profile = Profile(
                    firstName: "Ann", lastName: "Lee", born: CalendarDay("2004-02-29"), gender: "f", bio: "Physics",
                    visibility: ProfileVisibility(firstName: .classmates, lastName: .friends, born: .nobody, bio: .friends))
                _ = try await people.student("ann").request(SetProfile(profile))
                try await people.befriend("ann", "friend")
                try await people.student("ann").ask("received")
                try await people.student("asked").ask("ann")
                let shown = Profile(
                    firstName: "Ann", lastName: "Lee", bio: "Physics",
                    visibility: ProfileVisibility(firstName: .friends, lastName: .friends, bio: .friends))
                let friends = PersonView("ann", .friends, shown, mutualFriends: [])
                #expect(try await people.student("friend").view("ann") == friends)
                #expect(try await people.student("asked").view("ann") == PersonView("ann", .asked, nil))
                #expect(try await people.student("received").view("ann") == PersonView("ann", .received, nil, mutualFriends: []))
                #expect(try await people.student("stranger").view("ann") == PersonView("ann", .stranger, nil))
                let own = try await people.student("ann").view("ANN")
                #expect(own == PersonView("ann", .oneself, profile))
                #expect(own.born == profile.born && own.gender == "f")
                try await people.student("friend").remove("ann")
                #expect(try await people.student("friend").view("ann") == PersonView("ann", .stranger, nil))
            }
        }

        @Test("Mutual friends are shown to friends, and to those who were asked")
        func mutual() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob", "carl", "Dan", "eve") { people in
                for other in ["bob", "carl", "dan"] as [AccountName] { try await people.befriend("ann", other) }
                for other in ["carl", "dan", "eve"] as [AccountName] { try await people.befriend("bob", other) }
                let (ann, eve) = (people.student("ann"), people.student("eve"))
                #expect(try await ann.view("bob").mutualFriends?.map(\.description) == ["carl", "Dan"])
                #expect(try await ann.view("eve").mutualFriends == nil)
                try await ann.ask("eve")
                #expect(try await ann.view("eve").mutualFriends == nil)
                #expect(try await eve.view("ann").mutualFriends == ["bob"])
                _ = try await people.client.request(UpdateAccount("carl", disabled: true))
                #expect(try await ann.view("bob").mutualFriends == ["dan"])
            }
        }
    }
}
