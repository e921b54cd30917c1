import FCM
import FoundationEssentials
import Base
import Schemas
import Testing

@testable import Broadcasts

/// The pushes of a broadcast, and when they are due.
@Suite("Pushes of broadcasts")
struct BroadcastPushTests {
    private static let minute: Milliseconds = 60_000
    private static let start: UnixMilliseconds = 1_800_000_000_000

    private static let channels = ["5a0187feff0dafac2833f401", "5a0187feff0dafac2833f402"].compactMap(ObjectID.init)

    private static func draft(
        minutes: Int = 60, every repetition: Int? = nil, channels: [ObjectID]? = nil,
        condition: String? = nil, starts: UnixMilliseconds = start, type: BroadcastType = .others, popup: Bool? = nil
    ) -> BroadcastDraft {
        BroadcastDraft(
            type: type, epoch: BroadcastEpoch(starts), expiry: minutes,
            actionData: BroadcastActionData(translations: ["en": .init(title: "a", msg: "b")], popup: popup), channels: channels,
            condition: condition, repetition: repetition)
    }

    private static func stored(_ draft: BroadcastDraft = draft()) throws -> StoredBroadcast {
        try StoredBroadcast(Broadcast(draft, id: 7, language: "en", sender: "ann", now: start - minute), by: AddBroadcast(draft))
    }

    /// Edits it, or withdraws it without a draft.
    private static func change(_ stored: inout StoredBroadcast, to draft: BroadcastDraft?, after minutes: Int64) {
        let now = start + Milliseconds(rawValue: minutes * 60_000)
        var version = stored.broadcast
        if let draft {
            version = version.edited(draft, language: "en", now: now)
        } else {
            (version.withdrawn, version.version) = (now, version.version + 1)
        }
        stored.replace(by: version, at: now)
    }

    /// Takes a push at its time.
    private static func take(_ stored: inout StoredBroadcast, after minutes: Int64) throws -> [LogPush] {
        let now = start + Milliseconds(rawValue: minutes * 60_000)
        let push = try #require(BroadcastPush(of: stored, now: now))
        let commands = try push.commands
        stored.notePush(
            next: push.next, pushes: commands.map { _ in ObjectID() },
            popups: commands.filter { $0.message["notification"] != nil }.map { _ in ObjectID() },
            isWithdrawal: push.isWithdrawal, refusal: nil, at: now)
        return commands
    }

    private static func withdrawals(_ commands: [LogPush]) -> [String: String] {
        Dictionary(
            commands.filter { $0.message["data"]?["withdrawn"] == "true" }.map { command in
                (command.topic ?? command.condition ?? "", command.message["data"]?["version"]?.string ?? "")
            }
        ) { "\($0), \($1)" }
    }

    @Test("One without a repetition is pushed once, at its beginning")
    func once() throws {
        let stored = try Self.stored()
        #expect(stored.nextPush == Self.start)
        let push = try #require(BroadcastPush(of: stored, now: Self.start))
        #expect(push.due == Self.start && push.next == nil)
        #expect(BroadcastPush(of: stored, now: Self.start + Self.minute * 60) == nil)
    }

    @Test("Repetitions are due until the expiry, and those that were missed count as one")
    func repeated() throws {
        var stored = try Self.stored(Self.draft(every: 25))
        let first = try #require(BroadcastPush(of: stored, now: Self.start + 10))
        #expect(first.due == Self.start && first.next == Self.start + Self.minute * 25)
        stored.notePush(next: first.next, pushes: [ObjectID()], isWithdrawal: false, refusal: nil, at: Self.start + 10)
        // The service was away over the second and the third one.
        let later = try #require(BroadcastPush(of: stored, now: Self.start + Self.minute * 51))
        #expect(later.due == Self.start + Self.minute * 50 && later.next == nil)
        // FCM keeps one of them at a time for a phone that is off.
        #expect(try first.commands.map(\.expires) == [Self.start + Self.minute * 25])
        #expect(try later.commands.map(\.expires) == [Self.start + Self.minute * 60])
    }

    @Test("An edit to a later time is pushed at once and at the new beginning", arguments: [nil, 15])
    func moved(repetition: Int?) throws {
        var stored = try Self.stored()
        _ = try Self.take(&stored, after: 0)
        let later = Self.start + Self.minute * 30
        Self.change(&stored, to: Self.draft(every: repetition, starts: later), after: 5)
        let commands = try Self.take(&stored, after: 6)
        #expect(commands.map(\.expires) == [later] && stored.nextPush == later)
        // The service was away when it was due.
        let next = try #require(BroadcastPush(of: stored, now: later + Self.minute))
        #expect(next.due == later && next.next == repetition.map { later + Self.minute * Int64($0) })
        // The service was away from the edit until after the beginning: one push is enough.
        var missed = try Self.stored()
        _ = try Self.take(&missed, after: 0)
        Self.change(&missed, to: Self.draft(starts: later), after: 5)
        let only = try #require(BroadcastPush(of: missed, now: later + Self.minute))
        #expect(only.due == later && only.next == nil)
    }

    @Test("An edit withdraws the earlier versions from topics and conditions that it does not reach, once")
    func leftAudience() throws {
        var stored = try Self.stored()
        _ = try Self.take(&stored, after: 0)
        Self.change(&stored, to: Self.draft(every: 15, channels: Self.channels), after: 5)
        let narrowed = try Self.take(&stored, after: 5)
        #expect(Self.withdrawals(narrowed) == ["general": "1"] && narrowed.count == 3)
        #expect(Self.withdrawals(try Self.take(&stored, after: 20)).isEmpty)
        Self.change(&stored, to: Self.draft(condition: "'a' in topics"), after: 25)
        let channels = Self.channels.map(\.description)
        #expect(Self.withdrawals(try Self.take(&stored, after: 25)) == ["general": "2", channels[0]: "2", channels[1]: "2"])
        Self.change(&stored, to: Self.draft(channels: [Self.channels[0]]), after: 30)
        let back = try Self.take(&stored, after: 30)
        #expect(Self.withdrawals(back) == ["general": "3", channels[1]: "3", "'a' in topics": "3"] && back.count == 4)
        #expect(Set(back.map(\.idempotencyKey)).count == 4)
        // A withdrawal goes to all of them.
        Self.change(&stored, to: nil, after: 35)
        let withdrawn = Self.withdrawals(try Self.take(&stored, after: 35))
        #expect(withdrawn == ["general": "5", channels[0]: "5", channels[1]: "5", "'a' in topics": "5"])
    }

    @Test("An edit before the beginning withdraws nothing: no phone has the earlier version")
    func neverBegan() throws {
        var stored = try Self.stored()
        Self.change(&stored, to: Self.draft(minutes: 10, channels: Self.channels), after: -1)
        #expect(stored.nextPush == Self.start && stored.until == nil)
        let commands = try Self.take(&stored, after: 0)
        #expect(Self.withdrawals(commands).isEmpty && commands.count == 2)
    }

    @Test("A withdrawal lasts until the last of all versions expires, and so does one that an edit has shortened")
    func shortened() throws {
        var stored = try Self.stored(Self.draft(minutes: 600))
        _ = try Self.take(&stored, after: 0)
        Self.change(&stored, to: Self.draft(minutes: 10), after: 5)
        let end = Self.start + Self.minute * 600
        #expect(stored.expires == Self.start + Self.minute * 10 && stored.lasts == end)
        // The outbox took nothing while the second version was active.
        let late = try #require(try BroadcastPush(of: stored, now: Self.start + Self.minute * 11)?.commands.first)
        #expect(late.expires == end && late.message["data"]?["withdrawn"] == "true" && late.message["data"]?["version"] == "2")
        let edit = try Self.take(&stored, after: 6)
        #expect(edit.map(\.expires) == [Self.start + Self.minute * 10])
        // The same broadcast and due time, and another content.
        #expect(late.idempotencyKey != edit.first?.idempotencyKey)
        Self.change(&stored, to: nil, after: 30)
        let withdrawal = try #require(try Self.take(&stored, after: 30).first)
        #expect(withdrawal.expires == end && withdrawal.message["data"]?["expires"]?.string == "\(end)")
    }

    @Test("A repeated command is the same: the key and the content depend only on the broadcast and the due time")
    func idempotent() throws {
        let stored = try Self.stored(Self.draft(every: 25))
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
        let channels = Self.channels
        #expect(try recipients(try Self.stored()) == [.topic("general")])
        #expect(try recipients(try Self.stored(Self.draft(channels: channels))) == channels.map { .topic($0.description) })
        #expect(try recipients(try Self.stored(Self.draft(condition: "'a' in topics"))) == [.condition("'a' in topics")])
        let keys = try #require(try BroadcastPush(of: Self.stored(Self.draft(channels: channels)), now: Self.start)).commands.map(
            \.idempotencyKey)
        #expect(Set(keys).count == 2)
    }

    @Test("FCM keeps it until the expiry, at most four weeks, not as urgent, and iOS gets it as background data")
    func message() throws {
        let command = try #require(try BroadcastPush(of: Self.stored(), now: Self.start)?.commands.first)
        #expect(command.expires == Self.start + Self.minute * 60)
        #expect(command.message["android"]?["priority"] == "NORMAL")
        #expect(command.message["apns"]?["headers"]?["apns-priority"] == "5")
        #expect(command.message["apns"]?["payload"]?["aps"]?["content-available"] == 1)
        #expect(command.message["notification"] == nil && command.message["data"]?["id"] == "7")
        let long = try #require(try BroadcastPush(of: Self.stored(Self.draft(minutes: 100_000)), now: Self.start)?.commands.first)
        #expect(long.expires == Self.start + .seconds(28 * 86_400))
    }

    @Test("A downtime has a pop-up as well, to the same phones, which replaces that of an earlier version and lasts as long")
    func popup() throws {
        let stored = try Self.stored(Self.draft(channels: Self.channels, type: .downtime))
        let commands = try #require(try BroadcastPush(of: stored, now: Self.start)?.commands)
        let popups = commands.filter { $0.message["notification"] != nil }
        // A phone of both channels is alerted once.
        let condition = Self.channels.map { "'\($0)' in topics" }.joined(separator: " || ")
        #expect(commands.count == 3 && popups.map(\.condition) == [condition])
        #expect(TopicCondition.problem(with: condition) == nil)
        #expect(Set(commands.map(\.idempotencyKey)).count == 3)
        let popup = try #require(popups.first)
        #expect(popup.message["notification"] == ["title": "a", "body": "b"])
        #expect(popup.message["android"]?["priority"] == "HIGH")
        #expect(popup.message["android"]?["notification"]?["tag"] == "broadcast-7")
        #expect(popup.message["apns"]?["headers"]?["apns-collapse-id"] == "broadcast-7")
        #expect(popup.message["apns"]?["headers"]?["apns-push-type"] == "alert")
        #expect(popup.expires == Self.start + Self.minute * 60)
        let data = try #require(popup.message["data"])
        #expect(data["id"] == "7" && data["version"] == "1" && data["expires"]?.string == "\(stored.expires)")
        #expect(data["channels"]?.string == Self.channels.map(\.description).joined(separator: ","))
        let action = try JSONValue(parsing: Data((data["actiondata"]?.string ?? "").utf8))
        let texts = action["translations"]?["en"]
        #expect(data["partial"] == "true" && texts?["title"] == "a" && texts?["msg"] == "b")
        #expect(throws: Never.self) {
            _ = try FCMRules.checked(popup.message, for: popup.recipients)
        }
    }

    @Test("The pop-up of many channels goes to conditions of five, and of a single one to its topic")
    func popupRecipients() throws {
        let channels = (0..<11).map { _ in ObjectID() }
        var draft = Self.draft(channels: channels, type: .downtime)
        let recipients = try Self.stored(draft).broadcast.popupRecipients
        #expect(recipients.map(\.field) == [.condition, .condition, .topic] && recipients[2].text == channels[10].description)
        for channel in channels {
            let topics: Set<String> = [channel.description]
            #expect(recipients.count { $0.text == channel.description || TopicCondition.isFulfilled($0.text, by: topics) } == 1)
        }
        #expect(recipients.allSatisfy { $0.field == .topic || TopicCondition.problem(with: $0.text) == nil })
        draft.channels = nil
        #expect(try Self.stored(draft).broadcast.popupRecipients == [.topic("general")])
        draft.condition = "'a' in topics"
        #expect(try Self.stored(draft).broadcast.popupRecipients == [.condition("'a' in topics")])
    }

    @Test("Only the first push of each version has a pop-up, from its beginning on")
    func popupOnce() throws {
        func count(_ commands: [LogPush]) -> Int { commands.count { $0.message["notification"] != nil } }
        func draft(minutes: Int = 60, every repetition: Int? = 15, starts: UnixMilliseconds = Self.start) -> BroadcastDraft {
            Self.draft(minutes: minutes, every: repetition, starts: starts, type: .downtime)
        }
        var stored = try Self.stored(draft())
        #expect(count(try Self.take(&stored, after: 0)) == 1)
        #expect(count(try Self.take(&stored, after: 15)) == 0)
        Self.change(&stored, to: draft(minutes: 90), after: 20)
        #expect(count(try Self.take(&stored, after: 20)) == 1)
        #expect(count(try Self.take(&stored, after: 35)) == 0)
        // Moved to a later time, it is announced when it begins.
        let later = Self.start + Self.minute * 60
        Self.change(&stored, to: draft(starts: later), after: 40)
        #expect(count(try Self.take(&stored, after: 40)) == 0)
        #expect(count(try Self.take(&stored, after: 60)) == 1)
        #expect(count(try Self.take(&stored, after: 75)) == 0)
        Self.change(&stored, to: nil, after: 80)
        #expect(count(try Self.take(&stored, after: 80)) == 0)
        // The service was away when it began, and until after a repetition.
        var missed = try Self.stored(draft())
        let late = try Self.take(&missed, after: 20)
        let repeated = try Self.take(&missed, after: 30)
        #expect(count(late) == 1 && count(repeated) == 0)
    }

    @Test("An edit that changes nothing in the pop-up has none, and keeps that of the earlier version")
    func samePopup() throws {
        func popups(_ commands: [LogPush]) -> Int { commands.count { $0.message["notification"] != nil } }
        var draft = Self.draft(type: .downtime)
        var stored = try Self.stored(draft)
        #expect(popups(try Self.take(&stored, after: 0)) == 1)
        let given = try #require(stored.popups)
        draft.actionData.translations?["ar"] = BroadcastActionData.Translation(title: "c", msg: "d")
        draft.actionData.cancellable = false
        Self.change(&stored, to: draft, after: 5)
        let same = try Self.take(&stored, after: 5)
        #expect(popups(same) == 0 && same.count == 1 && stored.popups == given && stored.formerPopups == nil)
        // Another text has another pop-up, and the first one is recalled.
        draft.actionData.translations?["en"] = BroadcastActionData.Translation(title: "a", msg: "new")
        Self.change(&stored, to: draft, after: 10)
        #expect(stored.formerPopups == given && stored.popups == nil)
        #expect(popups(try Self.take(&stored, after: 10)) == 1)
        stored.noteRecall(of: given)
        #expect(stored.formerPopups == nil)
        let second = try #require(stored.popups)
        Self.change(&stored, to: nil, after: 15)
        #expect(stored.formerPopups == second && stored.popups == nil)
    }

    @Test("An edit before the pop-up was given has its own")
    func editBeforePopup() throws {
        var draft = Self.draft(type: .downtime)
        var stored = try Self.stored(draft)
        draft.actionData.cancellable = false
        Self.change(&stored, to: draft, after: 1)
        #expect(try Self.take(&stored, after: 1).count { $0.message["notification"] != nil } == 1)
        // One that is switched off has none, and what was given is recalled.
        draft.actionData.popup = false
        Self.change(&stored, to: draft, after: 2)
        #expect(try Self.take(&stored, after: 2).count == 1 && stored.formerPopups?.count == 1)
    }

    @Test("Without a pop-up: another type, and a downtime whose author wants none")
    func noPopup() throws {
        for draft in [Self.draft(), Self.draft(type: .downtime, popup: false)] {
            let commands = try #require(try BroadcastPush(of: Self.stored(draft), now: Self.start)?.commands)
            #expect(commands.count == 1 && commands[0].message["notification"] == nil)
        }
        let wanted = try #require(
            try BroadcastPush(of: Self.stored(Self.draft(type: .downtime, popup: true)), now: Self.start)?.commands)
        #expect(wanted.count == 2)
    }

    @Test("A pop-up that has its texts in the data as well fits into a message, and otherwise has them once")
    func popupSize() throws {
        let limit = PayloadLimit.topic.bytes
        for (length, isTwice) in [(1, true), (450, true), (1_100, false)] {
            let text = String(repeating: "é", count: length)
            var draft = Self.draft(type: .downtime)
            draft.actionData.translations = ["en": .init(title: "\"\n\u{1F600}", msg: text)]
            let broadcast = PhoneBroadcast(try Self.stored(draft).broadcast)
            let popup = try #require(try BroadcastPopup(broadcast, maxBytes: limit))
            #expect(popup.bytes <= limit && popup.data["actiondata"]?.contains(text) == isTwice)
            // What fits as data fits as a pop-up.
            let single = try #require(try BroadcastPopup(broadcast, maxBytes: 0))
            #expect(try single.bytes <= BroadcastPushData.broadcast(broadcast).bytes && single.data["actiondata"] == "{}")
        }
    }

    @Test("A withdrawal is pushed as one")
    func withdrawal() throws {
        var stored = try Self.stored(Self.draft(every: 25))
        Self.change(&stored, to: nil, after: 5)
        let push = try #require(BroadcastPush(of: stored, now: Self.start + Self.minute * 6))
        #expect(push.next == nil)
        let data = try #require(try push.commands.first?.message["data"])
        #expect(data["withdrawn"] == "true" && data["version"] == "2" && data["actiondata"] == nil)
    }
}
