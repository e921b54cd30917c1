import JSON
import Schemas
import Testing
import Time

@testable import Broadcasts

/// The pushes of a broadcast, and when they are due.
@Suite("Pushes of broadcasts")
struct BroadcastPushTests {
    private static let minute: Milliseconds = 60_000
    private static let start: UnixMilliseconds = 1_800_000_000_000

    private static func stored(
        minutes: Int = 60, every repetition: Int? = nil, type: BroadcastType = .downtime, channels: [ObjectID]? = nil,
        condition: String? = nil
    ) -> StoredBroadcast {
        let draft = BroadcastDraft(
            type: type, epoch: BroadcastEpoch(start), expiry: minutes,
            actionData: BroadcastActionData(translations: ["en": .init(title: "a", msg: "b")]), channels: channels,
            condition: condition, repetition: repetition)
        return StoredBroadcast(Broadcast(draft, id: 7, language: "en", sender: "ann", now: start - minute), idempotencyKey: nil)
    }

    @Test("One without a repetition is pushed once, at its beginning")
    func once() throws {
        let stored = Self.stored()
        #expect(stored.nextPush == Self.start)
        let push = try #require(BroadcastPush(of: stored, now: Self.start))
        #expect(push.due == Self.start && push.next == nil)
        #expect(BroadcastPush(of: stored, now: Self.start + Self.minute * 60) == nil)
    }

    @Test("Repetitions are due until the expiry, and those that were missed count as one")
    func repeated() throws {
        var stored = Self.stored(every: 25)
        let first = try #require(BroadcastPush(of: stored, now: Self.start + 10))
        #expect(first.due == Self.start && first.next == Self.start + Self.minute * 25)
        stored.nextPush = first.next
        // The service was away over the second and the third one.
        let later = try #require(BroadcastPush(of: stored, now: Self.start + Self.minute * 51))
        #expect(later.due == Self.start + Self.minute * 50 && later.next == nil)
    }

    @Test("A repeated command is the same: the key and the content depend only on the broadcast and the due time")
    func idempotent() throws {
        let stored = Self.stored(every: 25)
        let commands = try [10, 600_000].map { later in
            try #require(BroadcastPush(of: stored, now: Self.start + Milliseconds(rawValue: later))).commands
        }
        #expect(commands[0] == commands[1])
    }

    @Test("The topic is general, that of each channel, or the condition")
    func recipients() throws {
        func recipients(_ stored: StoredBroadcast) throws -> [PushRecipient] {
            try #require(BroadcastPush(of: stored, now: Self.start)).commands.flatMap(\.recipients)
        }
        let channels = [try #require(ObjectID("5a0187feff0dafac2833f401")), try #require(ObjectID("5a0187feff0dafac2833f402"))]
        #expect(try recipients(Self.stored()) == [.topic("general")])
        #expect(try recipients(Self.stored(channels: channels)) == channels.map { .topic($0.description) })
        #expect(try recipients(Self.stored(condition: "'a' in topics")) == [.condition("'a' in topics")])
        let keys = try #require(BroadcastPush(of: Self.stored(channels: channels), now: Self.start)).commands.map(
            \.idempotencyKey)
        #expect(Set(keys).count == 2)
    }

    @Test("FCM keeps it until the expiry, at most four weeks, and iOS gets it as background data")
    func message() throws {
        let command = try #require(try BroadcastPush(of: Self.stored(), now: Self.start)?.commands.first)
        #expect(command.expires == Self.start + Self.minute * 60)
        #expect(command.message["android"]?["priority"] == "HIGH")
        #expect(command.message["apns"]?["headers"]?["apns-priority"] == "5")
        #expect(command.message["apns"]?["payload"]?["aps"]?["content-available"] == 1)
        #expect(command.message["notification"] == nil && command.message["data"]?["id"] == "7")
        let long = try #require(try BroadcastPush(of: Self.stored(minutes: 100_000), now: Self.start)?.commands.first)
        #expect(long.expires == Self.start + .seconds(28 * 86_400))
        let greeting = try #require(try BroadcastPush(of: Self.stored(type: .greetings), now: Self.start)?.commands.first)
        #expect(greeting.message["android"]?["priority"] == "NORMAL")
    }

    @Test("A withdrawal is pushed as one")
    func withdrawal() throws {
        var stored = Self.stored(every: 25)
        stored.broadcast.withdrawn = Self.start + 5
        stored.broadcast.version = 2
        stored.nextPush = Self.start + 5
        let push = try #require(BroadcastPush(of: stored, now: Self.start + 6))
        #expect(push.next == nil)
        let data = try #require(try push.commands.first?.message["data"])
        #expect(data["withdrawn"] == "true" && data["version"] == "2" && data["actiondata"] == nil)
    }
}
