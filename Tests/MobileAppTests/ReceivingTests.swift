import MobileApp
import Synchronization
import TestSupport
import Testing

@Suite("Receiving on a phone", .timeLimit(.minutes(10)))
struct ReceivingTests {
    private let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced", distribution: "Alert")
    private let popup = PushMessage(notification: .init(title: "Storm", body: "Stay at home"), data: ["msi_key": "a"])

    @Test("A data message of another program is ignored")
    func otherProgram() async throws {
        let phone = try TestPhone(subjects: [storms])
        try await phone.running {
            phone.push.receive(PushMessage(data: ["other": "program"]))
            phone.push.receive(TestPhone.data("a", topic: storms.topicKey, timestamp: phone.clock.now))
            try await eventually("the next one is stored") { try await phone.app.messages.all().map(\.msiKey) == ["a"] }
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
}
