import JSON
import Synchronization
import TestSupport
import Testing

@testable import MobileApp

@Suite("What FCM did not bring", .timeLimit(.minutes(10)))
struct MissedMessageTests {
    private let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced", distribution: "Alert")
    private let hours = TestHub.Subject(path: "Library/Main/Hours", level: "Recommended")
    private let shuttles = TestHub.Subject(path: "Campus/Transport/Shuttles")

    private func pages(_ phone: TestPhone) -> [HubRequest] { phone.hub.requests.filter { $0.path == "/message/since" } }

    // MARK: A subject that is joined

    /// A phone that has looked once, and two messages of subjects that its position has passed.
    private func lateJoiner() throws -> TestPhone {
        let phone = try TestPhone(subjects: [storms, shuttles])
        phone.hub.accept("shuttle", topic: shuttles.topicKey, timestamp: phone.clock.now)
        phone.hub.accept("hours", topic: hours.topicKey, timestamp: phone.clock.now)
        phone.hub.accept("storm", topic: storms.topicKey, timestamp: phone.clock.now)
        return phone
    }

    @Test("A subject that the student joins brings the week's messages, once")
    func chosen() async throws {
        let phone = try lateJoiner()
        try await phone.running {
            try await phone.look()
            try await phone.look()
            #expect(try await phone.app.messages.all().map(\.msiKey) == ["storm"])
            try await phone.app.subscriptions.subscribe(shuttles.topicKey)
            try await phone.look()
            #expect(try await phone.app.messages.exists("shuttle"))
            let asked = pages(phone).count
            try await phone.look()
            #expect(pages(phone).count == asked + 1)
        }
    }

    @Test("A subject that the cube brings does so, too, also if another one is refused")
    func joinedByTheCube() async throws {
        let phone = try lateJoiner()
        try await phone.running {
            try await phone.look()
            var forced = shuttles
            forced.level = "Forced"
            phone.hub.set([storms, forced, hours])
            phone.push.refuse([hours.topicKey])
            await #expect(throws: TestPush.Unreachable.self) { try await phone.look() }
            #expect(try await phone.app.messages.exists("shuttle"))
            #expect(try await !phone.app.messages.exists("hours"))
            phone.push.refuse([])
            try await phone.look()
            #expect(try await phone.app.messages.exists("hours"))
        }
    }

    @Test("The week's messages come also if the hub cannot be reached after the join, and the app ends")
    func hubIsAway() async throws {
        try await withTemporaryFolder { folder in
            let clock = TestClock()
            let first = try TestPhone(clock: clock, path: folder + "/phone.sqlite")
            first.hub.set([storms, shuttles])
            first.hub.accept("shuttle", topic: shuttles.topicKey, timestamp: clock.now)
            try await first.running {
                try await first.look()
                first.hub.fail(afterPages: 0)
                try await first.app.subscriptions.subscribe(shuttles.topicKey)
                await #expect(throws: TestHub.Offline.self) { try await first.look() }
            }
            first.hub.fail(afterPages: nil)
            let second = try TestPhone(clock: clock, hub: first.hub, path: folder + "/phone.sqlite")
            for topic in first.push.topics { try await second.push.subscribe(to: topic) }
            try await second.running { try await second.look() }
            #expect(try await second.app.messages.exists("shuttle"))
        }
    }

    @Test("The first look asks for the week once")
    func firstLook() async throws {
        let phone = try TestPhone(subjects: [storms, hours])
        try await phone.running { try await phone.look() }
        let positions = try pages(phone).map { try JSONValue(parsing: $0.body)["after"] }
        #expect(positions.count { $0 == nil } == 1)
    }

    // MARK: Texts that FCM could not carry

    @Test("A text that FCM could not carry is fetched within seconds")
    func omitted() async throws {
        let phone = try TestPhone(subjects: [storms])
        try await phone.running {
            try await phone.look()
            phone.hub.accept("a", topic: storms.topicKey, message: "The whole text.", timestamp: phone.clock.now)
            phone.push.receive(TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now, omitted: "message"))
            try await eventually("it is stored") { try await phone.app.messages.exists("a") }
            // The clock stands still until the app has begun to wait for its share of the spread.
            try await eventually("it is complete") {
                phone.clock.advance(by: 1)
                return try await phone.app.messages.all().first?.message == "The whole text."
            }
        }
    }

    @Test("A text that came while its message was deleted is fetched after the deletion was taken back")
    func restored() async throws {
        let phone = try TestPhone(subjects: [storms])
        try await phone.running {
            try await phone.look()
            phone.push.receive(TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now, omitted: "message"))
            try await eventually("it is stored") { try await phone.app.messages.exists("a") }
            let removed = try #require(try await phone.app.messages.remove("a"))
            phone.hub.accept("a", topic: storms.topicKey, message: "The whole text.", timestamp: phone.clock.now)
            try await phone.look()
            try await phone.app.messages.restore(removed)
            // Nobody asks for it.
            try await eventually("it is complete") { try await phone.app.messages.all().first?.message == "The whole text." }
        }
    }

    @Test("A text is fetched also after the subject was left, and no other message with it")
    func left() async throws {
        let phone = try TestPhone(subjects: [hours])
        try await phone.running {
            try await phone.look()
            phone.push.receive(TestPhone.data("a", topic: hours.topicKey, timestamp: phone.clock.now, omitted: "message"))
            try await eventually("it is stored") { try await phone.app.messages.exists("a") }
            try await phone.app.subscriptions.unsubscribe(hours.topicKey)
            phone.hub.accept("a", topic: hours.topicKey, message: "The whole text.", timestamp: phone.clock.now)
            phone.hub.accept("b", topic: hours.topicKey, timestamp: phone.clock.now)
            try await phone.look()
            #expect(try await phone.app.messages.all().map(\.message) == ["The whole text."])
        }
    }

    @Test("A text that the hub no longer has is lost, and not asked for again; one that it may still get is not lost")
    func lost() async throws {
        let phone = try TestPhone(subjects: [storms])
        try await phone.running {
            try await phone.look()
            let late = phone.clock.now - 9 * 86_400_000
            phone.push.receive(TestPhone.data("late", topic: storms.topicKey, timestamp: late, omitted: "message"))
            try await eventually("it is stored") { try await phone.app.messages.exists("late") }
            #expect(try await phone.app.messages.all().map(\.isTextLost) == [false])
            try await phone.look()
            #expect(try await phone.app.messages.all().map(\.isTextLost) == [true])
            let asked = pages(phone).count
            try await phone.look()
            #expect(pages(phone).count == asked + 1)
            phone.push.receive(TestPhone.data("new", topic: storms.topicKey, timestamp: phone.clock.now, omitted: "message"))
            try await eventually("it is stored") { try await phone.app.messages.exists("new") }
            try await phone.look()
            #expect(try await phone.app.messages.all().map(\.isTextLost) == [false, true])
            phone.hub.accept("new", topic: storms.topicKey, message: "The whole text.", timestamp: phone.clock.now)
            try await phone.look()
            #expect(try await phone.app.messages.all().first?.message == "The whole text.")
        }
    }

    // MARK: Alerts that wait for FCM

    @Test("An Alert that waits for FCM shows once, also in the background, and does not move the position")
    func waiting() async throws {
        let phone = try TestPhone(subjects: [storms])
        phone.push.setForeground(false)
        try await phone.running {
            try await phone.look()
            phone.hub.wait("a", topic: storms.topicKey, timestamp: phone.clock.now)
            for _ in 0..<2 { try await phone.look() }
            #expect(try await phone.app.messages.all().map(\.msiKey) == ["a"])
            let popup = PushMessage.Notification(title: "Title a", body: "Look out.", tag: "a")
            #expect(phone.push.shown == [popup])
            let positions = try pages(phone).compactMap { try JSONValue(parsing: $0.body)["after"]?.string }
            #expect(positions.count >= 2 && positions.allSatisfy { $0.hasPrefix("0-") })

            // FCM is back.
            phone.push.setForeground(true)
            phone.push.receive(PushMessage(notification: popup, data: ["msi_key": "a"]))
            for key in ["a", "b"] {
                phone.push.receive(TestPhone.data(key, topic: storms.topicKey, timestamp: phone.clock.now))
            }
            try await eventually("a later message") { try await phone.app.messages.exists("b") }
            phone.hub.acceptWaiting("a")
            try await phone.look()
            #expect(try await phone.app.messages.all().map(\.msiKey).sorted() == ["a", "b"])
            #expect(phone.push.shown == [popup])
        }
    }

    @Test("An Alert that was recalled goes with its pop-up, and no later copy of it shows")
    func recalled() async throws {
        let phone = try TestPhone(subjects: [storms])
        phone.hub.accept("wrong", topic: storms.topicKey, timestamp: phone.clock.now)
        try await phone.running {
            try await phone.look()
            phone.hub.wait("a", topic: storms.topicKey, corrects: "wrong", timestamp: phone.clock.now + 1)
            try await phone.look()
            #expect(try await phone.app.messages.all().map(\.correctedBy) == [nil, "a"])
            phone.hub.recall("a", isStale: true)
            for _ in 0..<2 {
                try await phone.look()
                #expect(try await phone.app.messages.all().map(\.msiKey) == ["wrong"])
                #expect(try await phone.app.messages.all().map(\.correctedBy) == [nil])
            }
            // A pop-up has the place of the corrected message's.
            #expect(phone.push.shown.map(\.tag) == ["wrong"] && phone.push.removed == ["wrong"])
            // FCM had it nevertheless.
            phone.push.receive(
                PushMessage(notification: PushMessage.Notification(title: "T", body: "B", tag: "a"), data: ["msi_key": "a"]))
            var late = TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now).data
            late["corrects"] = "wrong"
            phone.push.receive(PushMessage(data: late))
            phone.push.receive(TestPhone.data("b", topic: storms.topicKey, timestamp: phone.clock.now))
            try await eventually("a later message") { try await phone.app.messages.exists("b") }
            #expect(try await !phone.app.messages.exists("a"))
            #expect(try await phone.app.messages.all().allSatisfy { $0.correctedBy == nil })
            #expect(phone.push.shown.count == 1)
        }
    }

    @Test("An Alert that was recalled goes even if FCM had brought it and the student keeps it")
    func recalledThatFCMBrought() async throws {
        let phone = try TestPhone(subjects: [storms])
        try await phone.running {
            try await phone.look()
            phone.push.receive(TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now))
            try await eventually("it is there") { try await phone.app.messages.exists("a") }
            try await phone.app.messages.keep("a")
            phone.hub.recall("a")
            try await phone.look()
            #expect(try await phone.app.messages.all().isEmpty)
            #expect(phone.push.removed == ["a"])
        }
    }

    @Test("A pop-up that the app did not show before its end comes at its next start, once")
    func pendingPopup() async throws {
        let phone = try TestPhone(subjects: [storms])
        let alert = StoredMessage(
            msiKey: "a", topicKey: storms.topicKey, dist: "Alert", title: "Title a", desc: "Look out.", message: "A text.",
            timestamp: phone.clock.now)
        #expect(try await phone.app.messages.addWaiting(alert, isSubscribed: true) == .added)
        #expect(phone.push.shown.isEmpty)
        try await phone.running {
            for _ in 0..<2 { try await phone.look() }
            #expect(phone.push.shown == [PushMessage.Notification(title: "Title a", body: "Look out.", tag: "a")])
        }
    }

    @Test("A phone that has been away gets the Alerts with the last page")
    func waitingAfterPages() async throws {
        let phone = try TestPhone(subjects: [storms])
        for key in ["1", "2", "3", "4", "5"] { phone.hub.accept(key, topic: storms.topicKey, timestamp: phone.clock.now) }
        phone.hub.wait("a", topic: storms.topicKey, timestamp: phone.clock.now)
        try await phone.running {
            try await eventually("all are there") { try await phone.app.messages.all().count == 6 }
            try await eventually("its pop-up shows") { phone.push.shown.map(\.tag) == ["a"] }
        }
    }

    // MARK: Pages

    @Test("A message that cannot be read is reported, and the others come")
    func unreadable() async throws {
        let phone = try TestPhone(subjects: [storms])
        phone.hub.accept("a", topic: storms.topicKey, timestamp: phone.clock.now)
        phone.hub.acceptUnreadable(topic: storms.topicKey)
        phone.hub.accept("b", topic: storms.topicKey, timestamp: phone.clock.now)
        let failures = Mutex<[HubFailure]>([])
        try await phone.running(failed: { error in failures.withLock { $0 += [error as? HubFailure].compactMap(\.self) } }) {
            try await phone.look()
        }
        #expect(Set(try await phone.app.messages.all().map(\.msiKey)) == ["a", "b"])
        #expect(Set(failures.withLock(\.self)) == [.unreadable("/message/since")])
    }

    @Test("A fetch that is cut off goes on after the last page that came")
    func cutOff() async throws {
        let phone = try TestPhone(subjects: [storms])
        for number in 0..<6 { phone.hub.accept("m\(number)", topic: storms.topicKey, timestamp: phone.clock.now) }
        phone.hub.fail(afterPages: 2)
        try await phone.running {
            await #expect(throws: TestHub.Offline.self) { try await phone.look() }
            #expect(try await phone.app.messages.all().count == 4)
            phone.hub.fail(afterPages: nil)
            try await phone.look()
        }
        #expect(try await phone.app.messages.all().count == 6)
        let positions = try pages(phone).map { try JSONValue(parsing: $0.body)["after"]?.string?.prefix(2) }
        #expect(positions.prefix(4) == [nil, "2-", "4-", "4-"])
    }

    @Test("With more topics than a request may have, the next look goes on where the slowest part has ended")
    func manyTopics() async throws {
        let phone = try TestPhone()
        let subjects = (0..<801).map { TestHub.Subject(path: "Campus/Weather/\($0)", level: "Forced") }
        phone.hub.set(subjects)
        let last = try #require(subjects.map(\.topicKey).max())
        // More than a look fetches: 100 pages of two.
        for number in 0..<210 { phone.hub.accept("m\(number)", topic: last, timestamp: phone.clock.now) }
        try await phone.running {
            try await eventually("a look") { try await phone.app.isInitialized() }
            for _ in 0..<2 { try await phone.look() }
        }
        #expect(try await phone.app.messages.all().count == 210)
    }
}
