import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    /// What the messaging service learns about persons before it passes on a message.
    @Suite("Friends are checked for the messaging service")
    struct FriendCheckTests {
        private static func states(
            _ accounts: [AccountName], for student: TestStudent
        ) async throws(CommandFailure) -> [String] {
            try await student.request(CheckFriends(accounts)).relations.map { "\($0.account) \($0.state.rawValue)" }
        }

        @Test(
            "Friends, strangers, disabled and blocked ones are told apart, in the given order, few or many at once",
            arguments: StoreKind.ofRules)
        func states(kind: StoreKind) async throws {
            try await RunningPeople.withStudents(
                kind, "me", "Friend", "away", "none", "asked", "asking", "decliner", "blocked", "blocking", "gone"
            ) { people in
                try await people.add("staff")
                let me = people.student("me")
                for name in ["Friend", "away", "blocked", "blocking"] as [AccountName] { try await people.befriend("me", name) }
                try await me.ask("asked")
                try await people.student("asking").ask("me")
                try await me.ask("decliner")
                try await people.student("decliner").answer("me", accept: false)
                try await me.block("blocked")
                try await people.student("blocking").block("me")
                for name in ["away", "gone"] as [AccountName] {
                    _ = try await people.client.request(UpdateAccount(name, disabled: true))
                }

                let all: [AccountName] = [
                    "none", "FRIEND", "me", "away", "asked", "asking", "decliner", "blocked", "blocking", "gone", "staff",
                    "nobody",
                ]
                let expected = [
                    "none strangers", "Friend friends", "me blocked", "away away", "asked strangers", "asking strangers",
                    "decliner strangers", "blocked blocked", "blocking blocked", "gone blocked", "staff blocked",
                    "nobody blocked",
                ]
                #expect(try await Self.states(all, for: me) == expected)
                for (name, state) in zip(all, expected) { #expect(try await Self.states([name], for: me) == [state]) }
                #expect(try await Self.states([], for: me) == [])
                #expect(try await Self.states(["me"], for: people.student("decliner")) == ["me strangers"])
                #expect(try await Self.states(["me"], for: people.student("blocked")) == ["me blocked"])

                try await me.remove("Friend")
                #expect(try await Self.states(["friend"], for: me) == ["Friend strangers"])
            }
        }

        @Test("It is for students, for at most 200 persons at once, and does not count as looking for persons")
        func limits() async throws {
            try await RunningPeople.withStudents(.sqlite, "me", "other") { people in
                try await people.add("staff")
                let me = people.student("me")
                let staff = await people.client.failure(of: CheckFriends(["me"]), context: CallerContext(actor: "staff"))
                #expect(staff?.status == .forbidden)
                #expect(await people.client.failure(of: CheckFriends(["me"]))?.status == .unauthenticated)
                let many = (0..<MessagingLimits.maxAtOnce).map { AccountName(stringLiteral: "student-\($0)") }
                #expect(try await me.request(CheckFriends(many)).relations.count == many.count)
                let failure = await me.failure(of: CheckFriends(many + ["other"]))
                #expect(failure?.status == .invalid && failure?.field == "accounts")
                for _ in 0...PersonLimits.searchesPerMinute { _ = try await me.request(CheckFriends(["other"])) }
                #expect(try await me.view("other").relation == .stranger)
                _ = try await people.client.request(UpdateAccount("me", disabled: true))
                #expect(await me.failure(of: CheckFriends(["other"]))?.status == .unauthenticated)
            }
        }
    }
}
