import GRDB
import TestSupport
import Testing

@testable import MobileApp

@Suite("Subscriptions of a phone", .timeLimit(.minutes(10)))
struct SubscriptionTests {
    private let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced", distribution: "Alert")
    private let hours = TestHub.Subject(path: "Library/Main/Hours", level: "Recommended")
    private let shuttles = TestHub.Subject(path: "Campus/Transport/Shuttles")

    @Test("Only iOS asks for permission, once, and before it joins anything", arguments: Platform.Kind.allCases)
    func permission(kind: Platform.Kind) async throws {
        let phone = try TestPhone(kind, subjects: [storms])
        try await phone.running {
            try await eventually("it is initialised") { try await phone.app.isInitialized() }
            try await phone.look()
        }
        #expect(phone.push.log == (kind == .ios ? ["permission"] : []) + ["+\(storms.topicKey)"])
    }

    @Test("An initialisation that fails half-way continues where it stopped")
    func halfWay() async throws {
        let phone = try TestPhone(subjects: [storms, hours])
        // The topic of broadcasts for all phones comes first.
        phone.push.fail(after: 2)
        try await phone.running {
            await #expect(throws: TestPush.Unreachable.self) { try await phone.look() }
            #expect(try await !phone.app.isInitialized() && phone.push.topics.count == 1)
            phone.push.fail(after: nil)
            try await eventually("it is initialised") {
                phone.clock.advance(by: 60)
                return try await phone.app.isInitialized()
            }
        }
        #expect(phone.push.log.sorted() == ["+\(storms.topicKey)", "+\(hours.topicKey)"].sorted())
    }

    @Test("A phone whose registration FCM has replaced joins its topics again at the next start")
    func replacedRegistration() async throws {
        let phone = try TestPhone(subjects: [storms, hours, shuttles])
        try await phone.running {
            try await phone.joined([storms.topicKey, hours.topicKey])
            try await phone.app.subscriptions.subscribe(shuttles.topicKey)
            try await phone.app.subscriptions.unsubscribe(hours.topicKey)
        }
        phone.push.replaceRegistration()
        func looks() -> Int { phone.hub.requests.count { $0.path == "/message/since" } }
        let before = looks()
        try await phone.running {
            try await eventually("the look is over") { looks() > before }
            // Phones that are started together do not ask about their topics together.
            #expect(!phone.hub.requests.contains { $0.path == "/phone/topics" })
            try await eventually("it is joined again") {
                phone.clock.advance(by: 60)
                return phone.push.topics == [storms.topicKey, shuttles.topicKey]
            }
        }
    }

    @Test("A phone whose registration FCM replaces while the app runs joins its topics again at the next look")
    func replacedWhileRunning() async throws {
        let phone = try TestPhone(subjects: [storms, hours])
        try await phone.running {
            func comparisons() -> Int { phone.hub.requests.count { $0.path == "/phone/topics" } }
            for _ in 0..<2 { try await phone.look() }
            try await eventually("it has compared") { comparisons() == 1 }
            phone.push.replaceRegistration()
            try await phone.look()
            // It looks again once it knows.
            try await eventually("it is joined again") { phone.push.topics == [storms.topicKey, hours.topicKey] }
            // It asks no more than once for each registration.
            try await phone.look()
            #expect(comparisons() == 2)
        }
    }

    @Test("While FCM does not answer the hub, the app looks at it as always")
    func silentFCM() async throws {
        let phone = try TestPhone(subjects: [storms])
        phone.hub.silenceFCM()
        try await phone.running {
            for _ in 0..<3 { try await phone.look() }
            phone.hub.wait("a", topic: storms.topicKey, timestamp: phone.clock.now)
            try await phone.look()
            #expect(try await phone.app.messages.exists("a"))
        }
    }

    @Test("A screen takes over what FCM says, and the next look repairs it")
    func comparing() async throws {
        let phone = try TestPhone(subjects: [storms, shuttles])
        try await phone.running {
            for _ in 0..<2 { try await phone.look() }
            try await eventually("it has compared by itself") { phone.hub.requests.contains { $0.path == "/phone/topics" } }
            phone.push.forget(storms.topicKey)
            try await phone.push.subscribe(to: shuttles.topicKey)
            try await phone.app.subscriptions.compare()
            #expect(try await phone.app.subscriptions.subscribedTopics() == [shuttles.topicKey])
            try await phone.look()
            #expect(phone.push.topics == [storms.topicKey, shuttles.topicKey])
        }
    }

    @Test("A topic that FCM refuses does not keep the phone from joining and leaving the others")
    func refusedTopic() async throws {
        let phone = try TestPhone()
        let old = TestHub.Subject(path: "Library/Old/Hours", level: "Recommended")
        phone.hub.set([old])
        try await phone.running {
            try await phone.look()
            phone.hub.set([storms, hours])
            phone.push.refuse([storms.topicKey])
            await #expect(throws: TestPush.Unreachable.self) { try await phone.look() }
            #expect(phone.push.topics == [hours.topicKey])
            phone.push.refuse([])
            try await phone.look()
            #expect(phone.push.topics == [storms.topicKey, hours.topicKey])
        }
    }

    @Test("The state of the screen needs no network, also before the first look")
    func knownCube() async throws {
        let phone = try TestPhone(subjects: [storms])
        #expect(try await phone.app.subscriptions.knownCube() == nil)
        #expect(try await phone.app.subscriptions.all().isEmpty)
        #expect(try await phone.app.subscriptions.info(storms.topicKey) == .placeholder)
        #expect(phone.hub.requests.isEmpty)
        try await phone.app.subscriptions.readCube()
        #expect(try await phone.app.subscriptions.knownCube()?.subjects.count == 1)
        #expect(try await phone.app.subscriptions.all().map(\.id) == [storms.topicKey])
    }

    @Test("A copy of the cube that cannot be read is replaced by the hub's")
    func brokenCopy() async throws {
        try await withTemporaryFolder { folder in
            let first = try TestPhone(path: folder + "/phone.sqlite")
            first.hub.set([storms])
            try await first.app.subscriptions.readCube()
            try await first.database.db.write { db in try db.keep("[{\"name\":", as: "cube") }
            let second = try TestPhone(hub: first.hub, path: folder + "/phone.sqlite")
            #expect(try await second.app.subscriptions.knownCube() == nil)
            #expect(try await second.app.subscriptions.informationCube().subjects.count == 1)
            #expect(first.hub.requests.map { $0.headers["If-None-Match"] } == [nil, nil])
            #expect(try await second.app.subscriptions.knownCube()?.subjects.count == 1)
        }
    }

    @Test("Lists with the subscriptions: all of them, and mine")
    func merging() async throws {
        let phone = try TestPhone(subjects: [storms, shuttles])
        let subjects = try await phone.app.subscriptions.informationCube().subjects
        let all = Subscriptions.merge(subjects, subscribed: [storms.topicKey])
        #expect(
            Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.isSubscribed) }) == [
                storms.topicKey: true, shuttles.topicKey: false,
            ])
        #expect(Subscriptions.mergeMine(subjects, subscribed: [storms.topicKey]).map(\.id) == [storms.topicKey])
    }
}
