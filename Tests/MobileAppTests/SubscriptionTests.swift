import MobileApp
import TestSupport
import Testing

@Suite("Subscriptions of a phone")
struct SubscriptionTests {
    private let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced", distribution: "Alert")
    private let hours = TestHub.Subject(path: "Library/Main/Hours", level: "Recommended")
    private let shuttles = TestHub.Subject(path: "Campus/Transport/Shuttles")

    /// Makes the app look at the cube once more, and waits until it has.
    private func look(_ phone: TestPhone) async throws {
        let before = phone.hub.requests.count { $0.path == "/channel" }
        phone.app.refresh()
        try await eventually("another look") {
            phone.hub.requests.count { $0.path == "/channel" } > before && phone.clock.sleeperCount > 0
        }
    }

    @Test("The first start joins what is Forced or Recommended")
    func firstStart() async throws {
        let phone = try TestPhone()
        phone.hub.set([storms, hours, shuttles])
        try await phone.running {
            try await eventually("both are joined") { phone.push.topics == [storms.topicKey, hours.topicKey] }
            try await eventually("it is initialised") { try await phone.app.isInitialized() }
        }
        let info = try await phone.app.subscriptions.info(storms.topicKey)
        #expect(info.names == ["Campus", "Weather", "Storms"] && info.level == .forced && info.subscribed)
        #expect(try await phone.app.subscriptions.info("unknown") == .placeholder)
        #expect(try await phone.app.subscriptions.all().filter(\.isSubscribed).count == 2)
    }

    @Test("Only iOS asks for permission, once, and before it joins anything", arguments: Platform.Kind.allCases)
    func permission(kind: Platform.Kind) async throws {
        let phone = try TestPhone(kind)
        phone.hub.set([storms])
        try await phone.running {
            try await eventually("it is initialised") { try await phone.app.isInitialized() }
            try await look(phone)
        }
        #expect(phone.push.log == (kind == .ios ? ["permission"] : []) + ["+\(storms.topicKey)"])
    }

    @Test("An initialisation that fails half-way goes on where it was")
    func halfWay() async throws {
        let phone = try TestPhone()
        phone.hub.set([storms, hours])
        phone.push.fail(after: 1)
        try await phone.running {
            try await eventually("it waits after the failure") { phone.clock.sleeperCount > 0 && phone.push.topics.count == 1 }
            #expect(try await !phone.app.isInitialized())
            phone.push.fail(after: nil)
            phone.clock.advance(by: 60)
            try await eventually("it is initialised") { try await phone.app.isInitialized() }
        }
        #expect(phone.push.log.sorted() == ["+\(storms.topicKey)", "+\(hours.topicKey)"].sorted())
    }

    @Test("A phone that starts offline initialises when the hub is reachable")
    func offlineStart() async throws {
        let phone = try TestPhone()
        phone.hub.set([storms])
        phone.hub.setOnline(false)
        try await phone.running {
            try await eventually("it waits") { phone.clock.sleeperCount > 0 }
            phone.hub.setOnline(true)
            phone.app.refresh()
            try await eventually("it is joined") { phone.push.topics == [storms.topicKey] }
        }
    }

    @Test("The cube decides at each look: new, deleted, and changed levels")
    func changes() async throws {
        let phone = try TestPhone()
        phone.hub.set([shuttles])
        try await phone.running {
            try await eventually("it is initialised") { try await phone.app.isInitialized() }
            #expect(phone.push.topics.isEmpty)
            var promoted = shuttles
            promoted.level = "Recommended"
            phone.hub.set([promoted, storms])
            try await look(phone)
            #expect(phone.push.topics == [shuttles.topicKey, storms.topicKey])
            // The phone stays subscribed.
            phone.hub.set([shuttles, storms])
            try await look(phone)
            #expect(phone.push.topics == [shuttles.topicKey, storms.topicKey])
            phone.hub.set([shuttles])
            try await look(phone)
            #expect(phone.push.topics == [shuttles.topicKey])
        }
        #expect(try await phone.app.subscriptions.info(storms.topicKey) == .placeholder)
    }

    @Test("What the student left is rejoined only if it becomes Forced, and a Forced subject cannot be left")
    func choices() async throws {
        let phone = try TestPhone()
        phone.hub.set([hours])
        try await phone.running {
            try await eventually("it is joined") { phone.push.topics == [hours.topicKey] }
            try await phone.app.subscriptions.unsubscribe(hours.topicKey)
            try await look(phone)
            #expect(phone.push.topics.isEmpty)
            var forced = hours
            forced.level = "Forced"
            phone.hub.set([forced])
            try await look(phone)
            #expect(phone.push.topics == [hours.topicKey])
            await #expect(throws: Subscriptions.ForcedSubject.self) {
                try await phone.app.subscriptions.unsubscribe(hours.topicKey)
            }
            #expect(try await phone.app.subscriptions.isSubscribed(hours.topicKey))
        }
    }

    @Test("A choice that was made offline is carried out later")
    func offlineChoice() async throws {
        let phone = try TestPhone()
        phone.hub.set([shuttles, hours])
        try await phone.running {
            try await eventually("it is joined") { phone.push.topics == [hours.topicKey] }
            phone.push.fail(after: 0)
            await #expect(throws: TestPush.Unreachable.self) { try await phone.app.subscriptions.subscribe(shuttles.topicKey) }
            await #expect(throws: TestPush.Unreachable.self) { try await phone.app.subscriptions.unsubscribe(hours.topicKey) }
            #expect(try await phone.app.subscriptions.subscribedTopics() == [shuttles.topicKey])
            phone.push.fail(after: nil)
            try await look(phone)
            try await eventually("both are done") { phone.push.topics == [shuttles.topicKey] }
        }
    }

    @Test("The student's choice outlives a subject that is gone for a while")
    func returning() async throws {
        let phone = try TestPhone()
        phone.hub.set([shuttles])
        try await phone.running {
            try await eventually("it is initialised") { try await phone.app.isInitialized() }
            try await phone.app.subscriptions.subscribe(shuttles.topicKey)
            phone.hub.set([])
            try await look(phone)
            #expect(phone.push.topics.isEmpty)
            phone.hub.set([shuttles])
            try await look(phone)
            #expect(phone.push.topics == [shuttles.topicKey])
        }
    }

    @Test("A phone whose registration FCM has replaced joins its topics again at the next start")
    func replacedRegistration() async throws {
        let phone = try TestPhone()
        phone.hub.set([storms, hours, shuttles])
        try await phone.running {
            try await eventually("it is joined") { phone.push.topics == [storms.topicKey, hours.topicKey] }
            try await phone.app.subscriptions.subscribe(shuttles.topicKey)
            try await phone.app.subscriptions.unsubscribe(hours.topicKey)
        }
        phone.push.forgetTopics()
        try await phone.running {
            try await eventually("it is joined again") { phone.push.topics == [storms.topicKey, shuttles.topicKey] }
        }
    }

    @Test("The cube is kept for a start without a network, and read again only if it has changed")
    func cubeCopy() async throws {
        try await withTemporaryFolder { folder in
            let first = try TestPhone(path: folder + "/phone.sqlite")
            first.hub.set([storms])
            try await first.running {
                try await eventually("it is initialised") { try await first.app.isInitialized() }
                try await look(first)
            }
            let tags = first.hub.requests.filter { $0.path == "/channel" }.map { $0.headers["If-None-Match"] }
            #expect(tags.first == .some(nil) && tags.dropFirst().allSatisfy { $0 != nil })
            let second = try TestPhone(hub: first.hub, path: folder + "/phone.sqlite")
            first.hub.setOnline(false)
            #expect(try await second.app.subscriptions.info(storms.topicKey).names == ["Campus", "Weather", "Storms"])
        }
    }

    @Test("Lists with the subscriptions: all of them, and mine")
    func merging() async throws {
        let phone = try TestPhone()
        phone.hub.set([storms, shuttles])
        let subjects = try await phone.app.subscriptions.informationCube().subjects
        let all = Subscriptions.merge(subjects, subscribed: [storms.topicKey])
        #expect(
            Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.isSubscribed) }) == [
                storms.topicKey: true, shuttles.topicKey: false,
            ])
        #expect(Subscriptions.mergeMine(subjects, subscribed: [storms.topicKey]).map(\.id) == [storms.topicKey])
    }
}
