import FoundationEssentials
import JSON
import MobileApp
import TestSupport
import Testing

/// Broadcasts at app launch, and the features that they switch.
@Suite("Broadcasts on the phone", .timeLimit(.minutes(1)))
struct BroadcastTests {
    private static let now: Int64 = 1_795_521_600_000
    private static let hour: Int64 = 3_600_000

    private static func document(
        _ id: Int64, version: Int64 = 1, type: Int64 = 2, title: String = "Hello", starts: Int64 = now - hour,
        expires: Int64 = now + hour, action: JSONValue? = nil, members: JSONValue = [:]
    ) -> JSONValue {
        var document: JSONValue = [
            "id": .integer(id), "type": .integer(type), "epoch": "2026-11-24T11:00:00+0000", "expiry": 120, "language": "en",
            "actiondata": action ?? [
                "translations": [
                    "en": ["title": .string(title), "msg": "m"], "ar": ["title": .string("ع \(title)"), "msg": "m"],
                ]
            ],
            "starts": .integer(starts), "expires": .integer(expires), "version": .integer(version),
        ]
        for member in members.members ?? [] { document[member.name] = member.value }
        return document
    }

    private static func feature(_ id: Int64, _ name: String, on: Bool, share: Int64? = nil, group: String? = nil) -> JSONValue {
        var action: JSONValue = [
            "notificationtype": .string(on ? "enable-feature" : "disable-feature"), "feature": .string(name),
        ]
        action["share"] = share.map { .integer($0) }
        action["group"] = group.map { .string($0) }
        return document(id, type: 4, action: action)
    }

    private static func active(_ broadcasts: [JSONValue], withdrawn: [JSONValue] = []) -> JSONValue {
        ["broadcasts": .array(broadcasts), "withdrawn": .array(withdrawn)]
    }

    /// As FCM brings it: all strings.
    private static func push(_ document: JSONValue) -> PushMessage {
        var data: [String: String] = [:]
        for member in document.members ?? [] {
            data[member.name] = member.value.string ?? member.value.number ?? String(decoding: member.value.data, as: UTF8.self)
        }
        return PushMessage(data: data)
    }

    private static func titles(_ phone: TestPhone, _ language: String = "en") async throws -> [String] {
        try await phone.app.broadcasts.cards(language: language).map(\.title)
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

    @Test("A broadcast that FCM brings is shown once, also if it comes again, and closed it does not return")
    func once() async throws {
        let phone = try TestPhone()
        try await phone.running {
            let push = Self.push(Self.document(7))
            phone.push.receive(push)
            try await eventually("it is shown") { try await Self.titles(phone) == ["Hello"] }
            #expect(try await Self.titles(phone, "ar") == ["ع Hello"])
            #expect(try await Self.titles(phone, "fr") == ["Hello"])
            let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            #expect(try await phone.app.broadcasts.close(card))
            phone.push.receive(push)
            phone.hub.setBroadcasts(Self.active([Self.document(7)]))
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty)
            // A later version is shown again, and an earlier one that FCM brings late does not replace it.
            phone.push.receive(Self.push(Self.document(7, version: 2, title: "Edited")))
            try await eventually("the edit is shown") { try await Self.titles(phone) == ["Edited"] }
            phone.push.receive(push)
            phone.push.receive(Self.push(Self.document(8, title: "Another")))
            try await eventually("the other one is there") { try await Self.titles(phone).count == 2 }
            #expect(try await Set(Self.titles(phone)) == ["Edited", "Another"])
        }
    }

    @Test("A phone that joins late gets it from the hub, asks with the former tag, and drops what was withdrawn")
    func late() async throws {
        let phone = try TestPhone()
        phone.hub.setBroadcasts(Self.active([Self.document(1), Self.document(2, title: "Other")]))
        try await phone.running {
            try await phone.look()
            #expect(try await Set(Self.titles(phone)) == ["Hello", "Other"])
            try await phone.look()
            let asked = phone.hub.requests.filter { $0.path.hasPrefix("/broadcast/active") }
            #expect(asked.last?.headers["If-None-Match"] != nil)
            let withdrawn: JSONValue = ["id": 1, "version": 2, "expires": .integer(Self.now + Self.hour)]
            phone.hub.setBroadcasts(Self.active([Self.document(2, title: "Other")], withdrawn: [withdrawn]))
            try await phone.look()
            #expect(try await Self.titles(phone) == ["Other"])
            // FCM brings it late: it stays away.
            phone.push.receive(Self.push(Self.document(1)))
            phone.push.receive(Self.push(Self.document(3, title: "New")))
            try await eventually("the later one is there") { try await Self.titles(phone).count == 2 }
            #expect(try await Set(Self.titles(phone)) == ["Other", "New"])
        }
    }

    @Test("A withdrawal that comes before its broadcast counts")
    func withdrawnFirst() async throws {
        let phone = try TestPhone()
        try await phone.running {
            phone.push.receive(
                PushMessage(data: ["id": "7", "version": "2", "expires": "\(Self.now + Self.hour)", "withdrawn": "true"]))
            phone.push.receive(Self.push(Self.document(7)))
            phone.push.receive(Self.push(Self.document(8, title: "Another")))
            try await eventually("the other one is there") { try await Self.titles(phone) == ["Another"] }
        }
    }

    @Test("A card appears when it begins, and goes when it expires; what cannot be closed comes first and stays")
    func times() async throws {
        let phone = try TestPhone()
        var action: JSONValue = ["translations": ["en": ["title": "Down", "msg": "m"]]]
        action["cancellable"] = false
        phone.hub.setBroadcasts(Self.active([Self.document(1), Self.document(2, type: 1, action: action)]))
        try await phone.running {
            try await phone.look()
            phone.push.receive(Self.push(Self.document(3, title: "Soon", starts: Self.now + 600_000)))
            phone.push.receive(Self.push(Self.document(4, title: "Marker")))
            try await eventually("all have come") { try await Self.titles(phone).count == 3 }
            let cards = try await phone.app.broadcasts.cards(language: "en")
            #expect(cards.first?.title == "Down" && cards.first?.kind == .downtime)
            #expect(try await phone.app.broadcasts.close(try #require(cards.first)) == false)
            phone.clock.advance(by: 601)
            #expect(try await Self.titles(phone).contains("Soon"))
            phone.clock.advance(by: 3_600)
            #expect(try await Self.titles(phone).isEmpty)
        }
    }

    @Test("A broadcast for channels is for phones of these channels, and one with a condition for those that fulfil it")
    func audience() async throws {
        let phone = try TestPhone()
        let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced")
        phone.hub.set([storms])
        let channel = String(storms.topicKey.prefix(24))
        phone.hub.setBroadcasts(
            Self.active([
                Self.document(1, title: "Campus", members: ["channels": [.string(channel)]]),
                Self.document(2, title: "Elsewhere", members: ["channels": ["5a0187feff0dafac2833f401"]]),
                Self.document(3, title: "Storms", members: ["condition": .string("'\(storms.topicKey)' in topics")]),
                Self.document(4, title: "Others", members: ["condition": .string("!('\(storms.topicKey)' in topics)")]),
            ]))
        try await phone.running {
            try await phone.look()
            #expect(try await Set(Self.titles(phone)) == ["Campus", "Storms"])
            #expect(phone.hub.requests.contains { $0.path == "/broadcast/active?channel=\(channel)" })
        }
    }

    @Test("Feature switches: the last one that applies counts, and they survive a restart without a network")
    func features() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/app.sqlite"
            let phone = try TestPhone(path: path)
            phone.hub.setBroadcasts(
                Self.active([
                    Self.feature(1, "maps", on: true), Self.feature(2, "maps", on: false), Self.feature(3, "chat", on: true),
                    Self.feature(4, "half-a", on: true, share: 50), Self.feature(5, "half-b", on: true, share: 50, group: "B"),
                ]))
            try await phone.running { try await phone.look() }
            let features = try await phone.app.broadcasts.features()
            #expect(features.first { $0.name == "maps" }?.isOn == false && features.first { $0.name == "chat" }?.isOn == true)
            #expect(try await phone.app.broadcasts.isOn("unknown", or: true))
            let later = try TestPhone(path: path)
            later.hub.setOnline(false)
            #expect(try await later.app.broadcasts.features() == features)
            // Nothing is shown for them.
            #expect(try await Self.titles(later).isEmpty)
            later.clock.advance(by: 3_601)
            #expect(try await later.app.broadcasts.features().isEmpty)
        }
    }

    @Test("A broadcast of the app shows once, some hours after the installation, also in the seed's earlier form")
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
                for card in try await phone.app.broadcasts.cards(language: "en") {
                    #expect(card.origin == .app && card.expires == nil)
                    #expect(try await phone.app.broadcasts.close(card))
                }
            }
            let later = try TestPhone(path: folder + "/app.sqlite", localBroadcasts: local)
            later.clock.advance(by: 72_000)
            try await later.running {
                let shown = try await Self.titles(later)
                #expect(shown.isEmpty)
            }
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
