import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import People

extension PeopleServiceTests {
    @Suite("Pushes about friends over the bus")
    struct FriendPushTests {
        /// Runs the body with the message log of the test beside the people service.
        private static func with(
            _ people: RunningPeople, _ messageLog: OutboxDouble, _ body: () async throws -> Void
        ) async throws {
            try await messageLog.run(at: "ipc://\(people.folder)/run/message-log.sock", body)
            #expect(messageLog.senders == ["people"] && !messageLog.hasContradiction)
        }

        @Test("A request is pushed to who is asked, and its acceptance to who has asked; neither names anybody")
        func pushes() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob") { people in
                let messageLog = OutboxDouble()
                let (ann, bob) = (people.student("ann"), people.student("bob"))
                try await Self.with(people, messageLog) {
                    for _ in 0..<2 { try await ann.ask("bob") }
                    try await eventually("the request") { messageLog.taken.count == 1 }
                    for _ in 0..<2 { try await bob.answer("ann") }
                    try await eventually("its acceptance") { messageLog.taken.count == 2 }
                }
                let (asked, accepted) = (messageLog.taken[0], messageLog.taken[1])
                #expect(asked.accounts == ["bob"] && asked.kind == .friendRequest && asked.exceptDevice == ann.device)
                #expect(accepted.accounts == ["ann"] && accepted.kind == .friendAccepted)
                #expect(try PersonPush(asked.message).link == "#people/requests")
                #expect(try PersonPush(accepted.message).link == "#people/friends")
                for push in messageLog.taken {
                    let message = try PersonPush(push.message)
                    #expect(Set(message.texts.keys) == ["en", "ar"])
                    let text = "\(push.idempotencyKey) \(push.fairnessKey) \(String(decoding: push.message.data, as: UTF8.self))"
                    #expect(!text.contains("ann") && !text.contains("bob"), "\(text)")
                    #expect(push.expires > .now + .seconds(6 * 86_400) && push.expires < .now + .seconds(8 * 86_400))
                }
            }
        }

        @Test("What is taken back, declined or blocked before the outbox has it is not pushed, nor a request after a decline")
        func takenBack() async throws {
            try await RunningPeople.withStudents(.sqlite, "ann", "bob", "carl", "dan", "eve") { people in
                let (ann, dan) = (people.student("ann"), people.student("dan"))
                let messageLog = OutboxDouble()
                messageLog.failure = CommandFailure(.unavailable, "not yet")
                try await Self.with(people, messageLog) {
                    try await ann.ask("bob")
                    try await ann.remove("bob")
                    try await ann.ask("carl")
                    try await people.student("carl").block("ann")
                    try await ann.ask("dan")
                    try await dan.answer("ann", accept: false)
                    try await ann.remove("dan")
                    try await ann.ask("dan")
                    try await people.befriend("ann", "eve")
                    try await ann.remove("eve")
                    try await dan.ask("eve")
                    // The first of these may still send what was taken back since the queue was read.
                    let requests = messageLog.requests
                    try await eventually("further attempts") { messageLog.requests >= requests + 2 }
                    messageLog.failure = nil
                    try await eventually("the only request that waits") { !messageLog.taken.isEmpty }
                    // The queue is in the order of its keys, so that nothing else is left when a later one has come.
                    try await dan.ask("carl")
                    try await eventually("the next one") { messageLog.taken.count >= 2 }
                }
                #expect(messageLog.taken.map(\.accounts) == [["eve"], ["carl"]])
            }
        }
    }
}
