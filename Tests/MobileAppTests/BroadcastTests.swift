import FoundationEssentials
import Base
import MobileApp
import Synchronization
import TestSupport
import Testing

/// Broadcasts at app launch, and the features that they switch.
@Suite("Broadcasts on the phone", .timeLimit(.minutes(10)))
struct BroadcastTests {
    private static let now: Int64 = 1_795_521_600_000
    private static let hour: Int64 = 3_600_000

    private static func document(
        _ id: Int64, version: Int64 = 1, type: Int64 = 2, title: String = "Hello", starts: Int64 = now - hour,
        expires: Int64 = now + hour, action: JSONValue? = nil
    ) -> JSONValue {
        [
            "id": .integer(id), "type": .integer(type), "epoch": "2026-11-24T11:00:00+0000", "expiry": 120, "language": "en",
            "actiondata": action ?? ["translations": ["en": ["title": .string(title), "msg": "m"]]],
            "starts": .integer(starts), "expires": .integer(expires), "version": .integer(version),
        ]
    }

    /// A switch for half of the phones.
    private static func feature(_ id: Int64, _ name: String, group: String? = nil) -> JSONValue {
        var action: JSONValue = ["notificationtype": "enable-feature", "feature": .string(name), "share": 50]
        action["group"] = group.map { .string($0) }
        return document(id, type: 4, action: action)
    }

    private static func active(_ broadcasts: [JSONValue]) -> JSONValue {
        ["broadcasts": .array(broadcasts), "withdrawn": []]
    }

    /// As FCM brings it: all strings.
    private static func push(_ document: JSONValue) -> PushMessage {
        var data: [String: String] = [:]
        for member in document.members ?? [] {
            data[member.name] = member.value.string ?? member.value.number ?? String(decoding: member.value.data, as: UTF8.self)
        }
        return PushMessage(data: data)
    }

    private static func titles(_ phone: TestPhone) async throws -> [String] {
        try await phone.app.broadcasts.cards(language: "en").map(\.title)
    }

    @Test("Every phone joins general, and the topic of each channel in which it is subscribed to a subject")
    func topics() async throws {
        let phone = try TestPhone()
        let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced")
        let chess = TestHub.Subject(path: "Clubs/Games/Chess")
        phone.hub.set([storms, chess])
        try await phone.running {
            try await phone.look()
            #expect(phone.push.broadcastTopics == ["general", String(storms.topicKey.prefix(24))])
            try await phone.app.subscriptions.subscribe(chess.topicKey)
            try await phone.look()
            #expect(phone.push.broadcastTopics.contains(String(chess.topicKey.prefix(24))))
            // FCM knows them, and the app does not leave them as unknown subjects.
            try await phone.app.subscriptions.compare()
            try await phone.app.subscriptions.unsubscribe(chess.topicKey)
            try await phone.look()
            #expect(phone.push.broadcastTopics == ["general", String(storms.topicKey.prefix(24))])
        }
    }

    @Test("A broadcast of the app that is due in the background has a pop-up, once, and the card comes when the app is opened")
    func localInTheBackground() async throws {
        let json = #"[{"id":1,"type":3,"relativetime":2,"actiondata":{"translations":{"en":{"title":"Welcome","msg":"m"}}}}]"#
        let phone = try TestPhone(localBroadcasts: try LocalBroadcasts(json: Data(json.utf8)))
        try await phone.running {
            try await phone.look()
            phone.push.setForeground(false)
            #expect(phone.push.shown.isEmpty)
            try await eventually("the pop-up") {
                phone.clock.advance(by: 3_600)
                return phone.push.shown.map(\.title) == ["Welcome"]
            }
            phone.clock.advance(by: 3_600)
            phone.push.setForeground(true)
            #expect(try await Self.titles(phone) == ["Welcome"])
            #expect(phone.push.shown.count == 1)
        }
    }

    @Test("A share of the phones keeps its features over a restart without a network, and the app has defaults for others")
    func features() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/app.sqlite"
            let phone = try TestPhone(path: path)
            phone.hub.setBroadcasts(
                Self.active((1...20).map { Self.feature($0, "feature \($0)", group: $0.isMultiple(of: 2) ? "B" : nil) }))
            try await phone.running { try await phone.look() }
            let features = try await phone.app.broadcasts.features()
            #expect(features.allSatisfy { $0.isOn })
            #expect(try await phone.app.broadcasts.isOn("unknown", or: true))
            let later = try TestPhone(path: path)
            later.hub.setOnline(false)
            #expect(try await later.app.broadcasts.features() == features)
        }
    }

    @Test("A broadcast of the app shows in one run, some hours after the installation, even in the seed's earlier form")
    func local() async throws {
        try await withTemporaryFolder { folder in
            let local = try LocalBroadcasts(
                json: Data(
                    """
                    [{"id":1,"type":3,"relativetime":2,"actiondata":{"translations":{"en":{"title":"Welcome","msg":"m"}}}},
                     {"id":"2","type":"2","relative":"0","translations":{"en":{"title":"At once","msg":"m"}}}]
                    """.utf8))
            let phone = try TestPhone(path: folder + "/app.sqlite", localBroadcasts: local)
            try await phone.running {
                try await phone.look()
                #expect(try await Self.titles(phone) == ["At once"])
                phone.clock.advance(by: 7_200)
                #expect(try await Self.titles(phone) == ["Welcome", "At once"])
                // What was not on the screen has not been shown.
                let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
                try await phone.app.broadcasts.shown(card)
                #expect(try await Self.titles(phone) == ["Welcome", "At once"])
            }
            let next = try TestPhone(path: folder + "/app.sqlite", localBroadcasts: local)
            next.clock.advance(by: 7_200)
            try await next.running {
                #expect(try await Self.titles(next) == ["At once"])
                for card in try await next.app.broadcasts.cards(language: "en") {
                    #expect(card.origin == .app && card.expires == nil && card.version == 1)
                    #expect(try await next.app.broadcasts.close(card))
                    // The screen may tell late.
                    try await next.app.broadcasts.shown(card)
                }
                let rest = try await Self.titles(next)
                #expect(rest.isEmpty)
            }
            let later = try TestPhone(path: folder + "/app.sqlite", localBroadcasts: local)
            later.clock.advance(by: 72_000)
            try await later.running {
                let shown = try await Self.titles(later)
                #expect(shown.isEmpty)
            }
        }
    }

    @Test("The card comes even while FCM does not answer")
    func outage() async throws {
        let phone = try TestPhone()
        phone.hub.setBroadcasts(Self.active([Self.document(1)]))
        phone.push.setStalled(true)
        try await phone.running {
            try await eventually("it is shown before FCM answers") { try await Self.titles(phone) == ["Hello"] }
        }
    }

    @Test("A phone joins general before it has seen the cube, and a refused topic does not keep it from channels")
    func joins() async throws {
        let phone = try TestPhone()
        let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced")
        let hours = TestHub.Subject(path: "Library/Main/Hours", level: "Forced")
        let chess = TestHub.Subject(path: "Clubs/Games/Chess", level: "Forced")
        let channels = [hours, chess].map { String($0.topicKey.prefix(24)) }.sorted()
        phone.hub.set([storms, hours, chess])
        phone.hub.setOnline(false)
        try await phone.running {
            await #expect(throws: TestHub.Offline.self) { try await phone.look() }
            #expect(phone.push.broadcastTopics == ["general"])
            phone.hub.setOnline(true)
            phone.push.refuse([storms.topicKey, channels[0]])
            await #expect(throws: TestPush.Unreachable.self) { try await phone.look() }
            #expect(phone.push.topics == [hours.topicKey, chess.topicKey])
            #expect(phone.push.broadcastTopics == ["general", channels[1]])
            phone.push.refuse([storms.topicKey])
            await #expect(throws: TestPush.Unreachable.self) { try await phone.look() }
            #expect(phone.push.broadcastTopics == Set(channels + ["general"]))
        }
    }

    @Test("Closing is of the version that was read")
    func closedVersion() async throws {
        let phone = try TestPhone()
        try await phone.running {
            phone.push.receive(Self.push(Self.document(7)))
            try await eventually("it is shown") { try await Self.titles(phone) == ["Hello"] }
            let read = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            phone.push.receive(Self.push(Self.document(7, version: 2, title: "Edited")))
            try await eventually("the edit is shown") { try await Self.titles(phone) == ["Edited"] }
            #expect(try await phone.app.broadcasts.close(read))
            let edited = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            #expect(edited.title == "Edited" && edited.version == 2 && edited.id == read.id)
            #expect(try await phone.app.broadcasts.close(edited))
            #expect(try await Self.titles(phone).isEmpty)
        }
    }

    @Test("The screen changes when a broadcast begins or expires that came while the app waited for another moment")
    func momentDuringWait() async throws {
        let phone = try TestPhone()
        // The look at the hub ends after half a minute: until then only broadcasts change the screen.
        phone.hub.setStalled(true)
        let screen = Mutex<[String]>([])
        let watching = Task {
            for await _ in phone.app.changes() {
                let titles = try await Self.titles(phone)
                screen.withLock { $0 = titles }
            }
        }
        defer { watching.cancel() }
        try await phone.running {
            // For two answers of the hub, and for the next moment of a broadcast.
            try await eventually("the app waits") { phone.clock.wakeTimes.count == 3 }
            phone.clock.advance(by: 1)
            phone.push.receive(Self.push(Self.document(1, title: "Soon", starts: Self.now + 10_000)))
            phone.push.receive(Self.push(Self.document(2, expires: Self.now + 16_000)))
            try await eventually("the second one is shown") { screen.withLock { $0 == ["Hello"] } }
            try await eventually("the app waits for the first one") { phone.clock.wakeTimes.contains(Self.now + 10_000) }
            phone.clock.advance(by: 10)
            try await eventually("the first one has begun") { screen.withLock { Set($0) == ["Hello", "Soon"] } }
            try await eventually("the app waits for the second one") { phone.clock.wakeTimes.contains(Self.now + 16_000) }
            phone.clock.advance(by: 6)
            try await eventually("the second one has expired") { screen.withLock { $0 == ["Soon"] } }
        }
    }

    @Test("A wrong broadcast of the app is refused by its place")
    func wrongLocal() {
        for (json, field) in [
            (#"[{"id":1,"type":3,"actiondata":{"translations":{"en":{"title":"a","msg":"m"}}}}]"#, "[0].relativetime"),
            (
                #"[{"id":1,"type":3,"relativetime":2,"actiondata":{"translations":{"ar":{"title":"a","msg":"m"}}}}]"#,
                "[0].actiondata.translations.en"
            ),
            (#"[{"type":3,"relativetime":2,"actiondata":{"translations":{"en":{"title":"a","msg":"m"}}}}]"#, "[0].id"),
        ] {
            #expect("\(json)") {
                _ = try LocalBroadcasts(json: Data(json.utf8))
            } throws: {
                "\($0)".hasPrefix(field)
            }
        }
    }
}
