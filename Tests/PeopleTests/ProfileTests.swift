import Base
import Bus
import Schemas
import Store
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Profiles over the bus")
    struct ProfileTests {
        @Test(
            "A profile is empty at first, is replaced as a whole, and is shown to nobody unless chosen",
            arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(kind, "ann", "bob") { people in
                let ann = people.student("ann")
                let first = try await ann.request(GetProfile())
                #expect(first == Profile())
                let profile = Profile(
                    firstName: "Ann", lastName: "Lee", born: CalendarDay("2004-02-29"), bio: "Physics",
                    visibility: ProfileVisibility(firstName: .friends, bio: .nobody))
                #expect(try await ann.request(SetProfile(profile)) == profile)
                #expect(try await ann.request(GetProfile()) == profile)
                let other = Profile(gender: "f")
                #expect(try await ann.request(SetProfile(other)) == other)
                #expect(try await ann.request(GetProfile()) == other)
                #expect(try await people.student("bob").request(GetProfile()) == Profile())
                #expect(try await people.student("bob").view("ann") == PersonView("ann", .stranger, nil))
            }
        }

        @Test("White space around a text is removed, a blank text is not known, and nobody is born in the future")
        func checked() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann") { people in
                let ann = people.student("ann")
                let typed = Profile(firstName: " Ann ", lastName: "  ", gender: "", bio: "\nPhysics,\nsecond year ")
                let kept = try await ann.request(SetProfile(typed))
                #expect(kept == Profile(firstName: "Ann", bio: "Physics,\nsecond year"))
                let failure = await ann.failure(of: SetProfile(Profile(born: CalendarDay("2100-12-31"))))
                #expect(failure?.status == .invalid && failure?.field == "born")
                #expect(failure?.message.contains("1900-01-01 to today") == true)
            }
        }

        @Test("An e-mail address that no provider has verified is refused, with its field")
        func email() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann") { people in
                let ann = people.student("ann")
                let failure = await ann.failure(of: SetProfile(Profile(bio: "x", email: "ann@example.edu")))
                #expect(failure?.status == .invalid && failure?.field == "email")
                let profile = try await ann.request(GetProfile())
                #expect(profile == Profile())
            }
        }

        @Test("The e-mail address is that of the first linked identity that has one, and is shown as the person chooses")
        func verifiedEmail() async throws {
            try await withTemporaryFolder { folder in
                try await RunningPeople.with(in: folder) { people in
                    try await people.setUp()
                    try await people.addStudents("ann", "bob")
                    try await people.befriend("ann", "bob")
                }
                try await withPeopleStore(in: folder) { store in
                    let ann = try #require(try await store.get("ann", from: PeopleStore.accounts)).document
                    let emails: [(IdentityProvider, String?, UnixMilliseconds)] = [
                        (.firebase, "later@example.edu", 7), (.google, "ann@example.edu", 6), (.facebook, nil, 5),
                    ]
                    for (provider, email, linked) in emails {
                        let identity = ProvenIdentity(
                            provider: provider, issuer: "issuer", subject: "1", email: email, used: nil)
                        try await store.insert(
                            IdentityDocument(identity, of: ann, now: linked), into: PeopleStore.identities)
                    }
                }
                try await RunningPeople.with(in: folder) { people in
                    let (ann, bob) = (people.student("ann"), people.student("bob"))
                    let first = try await ann.request(GetProfile())
                    #expect(first == Profile(email: "ann@example.edu"))
                    #expect(try await bob.view("ann").email == nil)
                    let shown = Profile(email: "ann@example.edu", visibility: ProfileVisibility(email: .friends))
                    #expect(try await ann.request(SetProfile(shown)) == shown)
                    #expect(try await ann.request(SetProfile(Profile(visibility: shown.visibility))) == shown)
                    #expect(await ann.failure(of: SetProfile(Profile(email: "later@example.edu")))?.field == "email")
                    #expect(try await bob.view("ann").email == "ann@example.edu")
                }
            }
        }

        @Test("A profile survives a restart")
        func restart() async throws {
            try await withTemporaryFolder { folder in
                let profile = Profile(bio: "Physics", visibility: ProfileVisibility(bio: .friends))
                try await RunningPeople.with(in: folder) { people in
                    try await people.setUp()
                    try await people.addStudents("ann", "bob")
                    _ = try await people.student("ann").request(SetProfile(profile))
                    try await people.befriend("ann", "bob")
                }
                try await RunningPeople.with(in: folder) { people in
                    let read = try await people.student("ann").request(GetProfile())
                    #expect(read == profile)
                    #expect(try await people.student("bob").view("ann").bio == "Physics")
                }
            }
        }
    }
}
