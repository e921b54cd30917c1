import MobileApp
import Synchronization
import TestSupport
import Testing

@Suite("Receiving on a phone", .timeLimit(.minutes(10)))
struct ReceivingTests {
    private let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced", distribution: "Alert")
    private let popup = PushMessage(notification: .init(title: "Storm", body: "Stay at home"), data: ["msi_key": "a"])

    @Test("A data message is stored once, whether FCM or the hub brings it")
    func once() async throws {
        let phone = try TestPhone(subjects: [storms])
        phone.hub.accept("a", topic: storms.topicKey, timestamp: phone.clock.now)
        try await phone.running {
            phone.push.receive(TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now))
            phone.push.receive(TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now))
            phone.push.receive(TestPhone.data("b", topic: storms.topicKey, timestamp: phone.clock.now + 1))
            try await eventually("both are stored") { try await phone.app.messages.all().map(\.msiKey) == ["b", "a"] }
            phone.push.receive(PushMessage(data: ["other": "program"]))
            phone.push.receive(TestPhone.data("c", topic: storms.topicKey, timestamp: phone.clock.now + 2))
            try await eventually("the next one is stored") { try await phone.app.messages.exists("c") }
        }
    }

    @Test("Android shows a pop-up itself while the app is in the foreground, once")
    func foreground() async throws {
        for (kind, isInForeground, count) in [(Platform.Kind.android, true, 1), (.android, false, 0), (.ios, true, 0)] {
            let phone = try TestPhone(kind)
            phone.push.setForeground(isInForeground)
            try await phone.running {
                phone.push.receive(popup)
                phone.push.receive(popup)
                phone.push.receive(TestPhone.data("a", timestamp: phone.clock.now))
                // The order of messages is kept, so the pop-ups were handled by then.
                try await eventually("the message is stored") { try await phone.app.messages.exists("a") }
            }
            #expect(phone.push.shown.count == count, "\(kind), foreground \(isInForeground)")
        }
    }

    @Test("A correction's pop-up has the name of the corrected one, which does not come back")
    func correctedPopup() async throws {
        let phone = try TestPhone(.android)
        phone.push.setForeground(true)
        func popup(_ key: String, _ tag: String) -> PushMessage {
            PushMessage(notification: .init(title: key, body: "b", tag: tag), data: ["msi_key": key])
        }
        try await phone.running {
            var correction = TestPhone.data("b", timestamp: phone.clock.now).data
            correction["corrects"] = "a"
            phone.push.receive(PushMessage(data: correction))
            phone.push.receive(popup("b", "a"))
            phone.push.receive(popup("a", "a"))
            phone.push.receive(TestPhone.data("c", timestamp: phone.clock.now))
            try await eventually("the last one is stored") { try await phone.app.messages.exists("c") }
        }
        #expect(phone.push.shown.map(\.title) == ["b"])
    }

    @Test("What FCM did not bring is fetched: all pages, from the last position, and without what was deleted")
    func missed() async throws {
        let phone = try TestPhone(subjects: [storms])
        for number in 0..<5 { phone.hub.accept("m\(number)", topic: storms.topicKey, timestamp: phone.clock.now + Int64(number)) }
        phone.hub.accept("other", topic: "other", timestamp: phone.clock.now)
        try await phone.running {
            try await phone.look()
            #expect(try await phone.app.messages.all().count == 5)
            try await phone.app.messages.remove("m2")
            let asked = phone.hub.requests.filter { $0.path == "/message/since" }.count
            phone.hub.accept("m5", topic: storms.topicKey, timestamp: phone.clock.now + 5)
            try await phone.look()
            #expect(try await phone.app.messages.exists("m5"))
            // It did not begin from the start.
            #expect(phone.hub.requests.filter { $0.path == "/message/since" }.count <= asked + 2)
        }
        #expect(try await phone.app.messages.all().map(\.msiKey) == ["m5", "m4", "m3", "m1", "m0"])
    }

    @Test("The hub's messages come also while FCM cannot be reached")
    func withoutFCM() async throws {
        let phone = try TestPhone()
        let hours = TestHub.Subject(path: "Library/Main/Hours", level: "Recommended")
        phone.hub.set([storms])
        try await phone.running {
            try await phone.look()
            phone.push.fail(after: 0)
            phone.hub.set([storms, hours])
            phone.hub.accept("a", topic: storms.topicKey, timestamp: phone.clock.now)
            await #expect(throws: TestPush.Unreachable.self) { try await phone.look() }
            #expect(try await phone.app.messages.exists("a"))
            #expect(phone.push.topics == [storms.topicKey])
        }
    }

    @Test("The student's view learns of each change")
    func watching() async throws {
        let phone = try TestPhone(subjects: [storms])
        let changes = phone.app.changes()
        try await phone.running {
            phone.push.receive(TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now))
            for await _ in changes { if try await phone.app.messages.exists("a") { break } }
        }
    }

    @Test("A look tells its outcome, and a hub that does not end its answer does not end the app's looks")
    func outcome() async throws {
        let phone = try TestPhone(subjects: [storms])
        await #expect(throws: MobileApp.NotRunning.self) { try await phone.app.look() }
        try await phone.running {
            try await phone.look()
            phone.hub.setOnline(false)
            await #expect(throws: TestHub.Offline.self) { try await phone.look() }
            phone.hub.setOnline(true)
            phone.hub.setStalled(true)
            let isOver = Mutex(false)
            let look = Task {
                defer { isOver.withLock { $0 = true } }
                try await phone.look()
            }
            try await eventually("the look is over") {
                phone.clock.advance(by: 31)
                return isOver.withLock(\.self)
            }
            await #expect(throws: TimedOut.self) { try await look.value }
            phone.hub.setStalled(false)
            // The time that has passed may have begun another look, which waits for the hub's answer until its own timeout.
            let time = Task {
                while !Task.isCancelled {
                    phone.clock.advance(by: 31)
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            defer { time.cancel() }
            try await eventually("a look succeeds again") {
                do {
                    try await phone.look()
                    return true
                } catch is TimedOut {
                    return false
                }
            }
        }
        await #expect(throws: MobileApp.NotRunning.self) { while true { try await phone.app.look() } }
    }

    @Test("Old messages are cleared at the start, and do not come back from the hub")
    func clearedAtStart() async throws {
        let clock = TestClock()
        let phone = try TestPhone(clock: clock, subjects: [storms])
        let old = clock.now - 8 * 86_400_000
        phone.hub.accept("old", topic: storms.topicKey, timestamp: old)
        phone.hub.accept("new", topic: storms.topicKey, timestamp: clock.now)
        try await phone.app.messages.add(
            StoredMessage(
                msiKey: "old", topicKey: storms.topicKey, dist: "Alert", title: "T", desc: "", message: "", timestamp: old))
        try await phone.running {
            try await eventually("the new one is there") { try await phone.app.messages.all().map(\.msiKey) == ["new"] }
        }
    }

    @Test("A new phone shows the seven days that are not cleared, although the hub has more")
    func newPhone() async throws {
        let phone = try TestPhone(subjects: [storms])
        let first = milliseconds("2026-11-18T00:00:00Z")
        phone.hub.accept("old", topic: storms.topicKey, timestamp: first - 1)
        phone.hub.accept("first", topic: storms.topicKey, timestamp: first)
        try await phone.running { try await phone.look() }
        #expect(try await phone.app.messages.all().map(\.msiKey) == ["first"])
    }
}
