import Base
import Synchronization
import TestSupport
import Testing

@testable import MobileApp

@Suite("What FCM did not bring", .timeLimit(.minutes(10)))
struct MissedMessageTests {
    private let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced", distribution: "Alert")
    private let hours = TestHub.Subject(path: "Library/Main/Hours", level: "Recommended")
    private let shuttles = TestHub.Subject(path: "Campus/Transport/Shuttles")

    @Test("A subject that the cube brings has the week's messages, even if FCM refuses another one")
    func joinedByTheCube() async throws {
        let phone = try TestPhone(subjects: [storms, shuttles])
        for (key, subject) in [("shuttle", shuttles), ("hours", hours)] {
            phone.hub.accept(key, topic: subject.topicKey, timestamp: phone.clock.now)
        }
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

    @Test("An Alert that waits for FCM has one pop-up, even in the background, and FCM's own later has none")
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

    @Test("An Alert that was recalled goes with its pop-up, and FCM's own later has none")
    func recalled() async throws {
        let phone = try TestPhone(subjects: [storms])
        phone.hub.accept("wrong", topic: storms.topicKey, timestamp: phone.clock.now)
        try await phone.running {
            try await phone.look()
            phone.hub.wait("a", topic: storms.topicKey, corrects: "wrong", timestamp: phone.clock.now + 1)
            try await phone.look()
            phone.hub.recall("a", isStale: true)
            for _ in 0..<2 { try await phone.look() }
            // A pop-up has the place of the corrected message's.
            #expect(phone.push.shown.map(\.tag) == ["wrong"] && phone.push.removed == ["wrong"])
            // FCM had it nevertheless.
            phone.push.receive(
                PushMessage(notification: PushMessage.Notification(title: "T", body: "B", tag: "a"), data: ["msi_key": "a"]))
            phone.push.receive(TestPhone.data("b", topic: storms.topicKey, timestamp: phone.clock.now))
            try await eventually("a later message") { try await phone.app.messages.exists("b") }
            #expect(phone.push.shown.count == 1)
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

    @Test("A message that cannot be read is reported")
    func unreadable() async throws {
        let phone = try TestPhone(subjects: [storms])
        phone.hub.accept(["topic_key": .string(storms.topicKey), "timestamp": "later"])
        let failures = Mutex<[HubFailure]>([])
        try await phone.running(failed: { error in failures.withLock { $0 += [error as? HubFailure].compactMap(\.self) } }) {
            try await phone.look()
        }
        #expect(Set(failures.withLock(\.self)) == [.unreadable("/message/since")])
    }
}
