import TestSupport
import Testing

@testable import MobileApp

@Suite("Muted subjects", .timeLimit(.minutes(10)))
struct MutedSubjectTests {
    private let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Recommended", distribution: "Alert")
    private let shuttles = TestHub.Subject(path: "Campus/Transport/Shuttles")

    @Test("A choice that is made offline is carried out later, and outlives a restart of the app")
    func offline() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/phone.sqlite"
            let phone = try TestPhone(path: path, subjects: [storms])
            try await phone.running {
                try await phone.joined([storms.topicKey])
                phone.push.fail(after: 0)
                await #expect(throws: TestPush.Unreachable.self) { try await phone.app.subscriptions.mute(storms.topicKey) }
                phone.push.fail(after: nil)
                try await phone.look()
                #expect(phone.push.topics.isEmpty)
            }
            let again = try TestPhone(hub: phone.hub, path: path)
            #expect(try await again.app.subscriptions.all().map(\.isMuted) == [true])
        }
    }

    @Test("A subject that is muted right after it was joined brings the week's messages, once, even if FCM is away")
    func joined() async throws {
        let phone = try TestPhone(subjects: [storms, shuttles])
        phone.hub.accept("a", topic: shuttles.topicKey, timestamp: phone.clock.now)
        try await phone.running {
            try await phone.joined([storms.topicKey])
            phone.hub.accept("b", topic: storms.topicKey, timestamp: phone.clock.now)
            try await phone.look()
            phone.hub.fail(afterPages: 0)
            phone.push.fail(after: 0)
            await #expect(throws: TestPush.Unreachable.self) { try await phone.app.subscriptions.subscribe(shuttles.topicKey) }
            await #expect(throws: TestPush.Unreachable.self) { try await phone.app.subscriptions.mute(shuttles.topicKey) }
            phone.push.fail(after: nil)
            phone.hub.fail(afterPages: nil)
            try await phone.look()
            #expect(try await phone.app.messages.exists("a"))
            #expect(phone.push.topics == [storms.topicKey])
            func asked() -> Int { phone.hub.requests.count { $0.path == "/message/since" } }
            let before = asked()
            try await phone.look()
            #expect(asked() == before + 1)
        }
    }
}
