import Base
import Bus
import PersonPushes
import Schemas
import Store
import TestSupport
import Testing

@testable import People

/// What the erasure of a person removes of what this suite's neighbours test.
@Suite("Erased friends", .timeLimit(.minutes(10)))
struct FriendErasureTests {
    @Test("Both sides of all relations, the profile, the preferences, and pushes to and about the person are removed")
    func forgotten() async throws {
        try await withTemporaryFolder { folder in
            // Without a message log all pushes stay in the queue.
            try await RunningPeople.with(in: folder) { people in
                try await people.setUp()
                try await people.addStudents("ann", "bob", "carl", "dan")
                let (ann, bob) = (people.student("ann"), people.student("bob"))
                try await people.befriend("ann", "bob")
                try await ann.ask("carl")
                try await ann.block("dan")
                try await bob.ask("carl")
                for student in [ann, bob] {
                    _ = try await student.request(SetProfile(Profile(bio: "Physics")))
                    _ = try await student.request(SetPushPreferences(PushPreferences(pushes: ["friend_request": false])))
                }
            }
            try await withPeopleStore(in: folder) { store in
                let forget: @Sendable (Transaction) throws -> [ErasedData] = { transaction in
                    guard let ann = try transaction.get("ann", from: PeopleStore.accounts)?.document else { return [] }
                    return try transaction.forgetSocial(of: ann)
                }
                let removed = try await store.transaction(forget)
                #expect(
                    removed == [
                        ErasedData(what: "queued_pushes", count: 1), ErasedData(what: "friendships", count: 5),
                        ErasedData(what: "profile", count: 1), ErasedData(what: "push_preferences", count: 1),
                    ])
                #expect(try await store.transaction(forget).allSatisfy { $0.count == 0 })
                let left = try await store.page(of: PeopleStore.friendships, limit: 100).documents.map(\.document)
                #expect(Set(left.map { [$0.owner, $0.other] }) == [["bob", "carl"], ["carl", "bob"]])
                // The request to carl of bob, but not that of ann.
                let queued = try await store.page(of: PeopleStore.queuedPushes, limit: 100).documents.map(\.document)
                #expect(queued.map(\.account) == ["carl"])
                #expect(queued.allSatisfy { push in left.contains { push.id.hasPrefix("\($0.id)") } })
                #expect(try await store.get("bob", from: PeopleStore.profiles) != nil)
                #expect(try await store.get("bob", from: PeopleStore.preferences) != nil)
            }
        }
    }
}
