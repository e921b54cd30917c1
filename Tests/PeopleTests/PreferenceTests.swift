import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Push preferences over the bus")
    struct PreferenceTests {
        @Test(
            "All kinds are on until the person switches one off; the choices are replaced as a whole",
            arguments: StoreKind.ofRules)
        func life(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(kind, "ann", "bob") { people in
                let ann = people.student("ann")
                let first = try await ann.request(GetPushPreferences())
                #expect(first.pushes.isEmpty && first.allows(.friendRequest))
                let chosen = PushPreferences(pushes: ["friend_request": false, "friend_accepted": true])
                #expect(try await ann.request(SetPushPreferences(chosen)) == chosen)
                let read = try await ann.request(GetPushPreferences())
                #expect(read == chosen && !read.allows(.friendRequest) && read.allows(.friendAccepted))
                let other = PushPreferences(pushes: ["friend_accepted": false])
                _ = try await ann.request(SetPushPreferences(other))
                #expect(try await ann.request(GetPushPreferences()) == other)
                #expect(try await people.student("bob").request(GetPushPreferences()) == first)
            }
        }

        @Test("A text that is no kind of pushes is refused")
        func kinds() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann") { people in
                let wrong = SetPushPreferences(PushPreferences(pushes: ["Friend Request": false]))
                let failure = await people.student("ann").failure(of: wrong)
                #expect(failure?.status == .invalid && failure?.field == "preferences.pushes")
            }
        }
    }
}
