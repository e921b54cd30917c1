import Base
import Schemas
import Testing

@testable import Operator

/// What `msi trace` says about pushes to persons.
@Suite("Lives of pushes to persons")
struct PersonLifeTests {
    private static let time = UnixMilliseconds(rawValue: 1_763_712_000_000)

    @Test("A push names its kind and its devices by their ids, each with its transport's outcome, and no person")
    func devices() throws {
        let account = try #require(AccountName("ann"))
        let command = try LogPush(
            idempotencyKey: "k", accounts: [account], kind: .friendRequest, fairnessKey: "friends",
            message: PersonPush(id: "6b01", link: "#people/requests", texts: ["en": "A friend request"]),
            expires: Self.time + 86_400_000)
        let content = try #require(try StoredPersonPush(command))
        var push = Push(
            sender: "people", idempotencyKey: "k", transport: .webpush, fairnessKey: "friends", message: try content.json,
            urgency: .high, logged: Self.time, expires: Self.time + 86_400_000,
            relay: PushRecord(logged: command.recipients, by: .webpush, due: Self.time, expires: Self.time + 86_400_000))
        func lines() -> [String] {
            let life = LifeText(
                life: ItemLife(push: push), key: .item(push.id), isArchiveKnown: true, isLogKnown: true, now: Self.time + 1_000)
            return life.description.split(separator: "\n").map(String.init)
        }
        #expect(lines().contains { $0.contains("account") && $0.contains("ann: pending") })

        let (phone, browser) = (ObjectID(), ObjectID())
        push.relay.recipients = [
            RecipientRecord(
                recipient: PushRecipient(device: phone, by: .fcm), state: .accepted, name: "projects/p/messages/1",
                acceptedAt: Self.time + 900),
            RecipientRecord(
                recipient: PushRecipient(device: browser, by: .webpush), state: .accepted, name: "https://push.example/m/1",
                acceptedAt: Self.time + 900),
        ]
        let found = lines()
        for part in [
            "friend_request to 1 person", "\(phone): accepted by FCM as projects/p/messages/1",
            "\(browser): accepted by its push service as https://push.example/m/1", "FCM has accepted it for 1 recipient",
            "push services have accepted it for 1 browser",
        ] {
            #expect(found.contains { $0.contains(part) }, "\(part): \(found)")
        }
        #expect(!found.contains { $0.contains("ann:") || $0.contains("a block of pushes") })
    }
}
