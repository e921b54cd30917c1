import FoundationEssentials
import JSON
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

    @Test("A channel's broadcasts can be switched off and on again, and those for every phone still come")
    func switchedOff() async throws {
        let phone = try TestPhone()
        let storms = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced")
        phone.hub.set([storms])
        let channel = String(storms.topicKey.prefix(24))
        phone.hub.setBroadcasts(
            Self.active([
                Self.document(1, title: "Campus", members: ["channels": [.string(channel)]]), Self.document(2, title: "All"),
            ]))
        try await phone.running {
            for areOn in [true, false, true] {
                try await phone.app.broadcasts.set(channel: channel, areOn: areOn)
                try await phone.look()
                #expect(try await Set(Self.titles(phone)) == (areOn ? ["Campus", "All"] : ["All"]))
                #expect(phone.push.broadcastTopics == (areOn ? ["general", channel] : ["general"]))
                #expect(try await phone.app.broadcasts.channelsOff() == (areOn ? [] : [channel]))
            }
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

    @Test("A broadcast of the app shows in one run, some hours after the installation, also in the seed's earlier form")
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

    @Test("A later version that is over ends an earlier one that lasts longer", arguments: [false, true])
    func endsEarlier(isWithdrawn: Bool) async throws {
        let phone = try TestPhone()
        let long = Self.document(7, expires: Self.now + 240 * Self.hour)
        let expired = Self.document(7, version: 2, starts: Self.now - 2 * Self.hour, expires: Self.now - Self.hour)
        let withdrawn: JSONValue = ["id": 7, "version": 2, "expires": .integer(Self.now - Self.hour)]
        try await phone.running {
            phone.push.receive(Self.push(long))
            try await eventually("it is shown") { try await Self.titles(phone) == ["Hello"] }
            phone.hub.setBroadcasts(isWithdrawn ? Self.active([], withdrawn: [withdrawn]) : Self.active([expired]))
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty)
            phone.push.receive(Self.push(long))
            phone.push.receive(Self.push(Self.document(8, title: "Another")))
            try await eventually("the other one is there") { try await Self.titles(phone) == ["Another"] }
        }
    }

    @Test("The card comes also while neither the messages nor FCM can be reached, and the look fails all the same")
    func outage() async throws {
        let phone = try TestPhone(subjects: [TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced")])
        phone.hub.setBroadcasts(Self.active([Self.document(1)]))
        phone.hub.fail(afterPages: 0)
        try await phone.running {
            await #expect(throws: TestHub.Offline.self) { try await phone.look() }
            let shown = try await Self.titles(phone)
            #expect(shown == ["Hello"])
        }
        let later = try TestPhone()
        later.hub.setBroadcasts(Self.active([Self.document(1)]))
        later.push.setStalled(true)
        try await later.running {
            try await eventually("it is shown before FCM answers") { try await Self.titles(later) == ["Hello"] }
        }
    }

    @Test("A phone whose clock was ahead shows what is active as soon as its clock is right", arguments: [24, 24 * 60])
    func clockAhead(hours: Int64) async throws {
        try await withTemporaryFolder { folder in
            let hub = TestHub()
            hub.setBroadcasts(Self.active([Self.document(1)]))
            for _ in 0..<2 {
                let clock = TestClock(now: Self.now + hours * Self.hour)
                let phone = try TestPhone(clock: clock, hub: hub, path: folder + "/app.sqlite")
                try await phone.running {
                    try await phone.look()
                    let shown = try await Self.titles(phone)
                    #expect(shown.isEmpty)
                }
            }
            let phone = try TestPhone(hub: hub, path: folder + "/app.sqlite")
            try await phone.running {
                try await phone.look()
                let shown = try await Self.titles(phone)
                #expect(shown == ["Hello"])
            }
        }
    }

    @Test("A phone of more than 200 channels asks in parts, each with its former tag")
    func manyChannels() async throws {
        let phone = try TestPhone()
        let subjects = (0..<201).map { TestHub.Subject(path: "Channel \($0)/Area/Subject", level: "Forced") }
        phone.hub.set(subjects)
        let channels = Set(subjects.map { String($0.topicKey.prefix(24)) })
        phone.hub.setBroadcasts(
            Self.active([Self.document(1, members: ["channels": .array(channels.sorted().suffix(1).map { .string($0) })])]))
        func questions() -> [HubRequest] { phone.hub.requests.filter { $0.path.hasPrefix("/broadcast/active?channel=") } }
        try await phone.running {
            try await phone.look()
            #expect(try await Self.titles(phone) == ["Hello"])
            let first = questions().prefix(2)
            let asked = first.flatMap { $0.path.dropFirst("/broadcast/active?channel=".count).split(separator: ",") }
            #expect(Set(asked.map(String.init)) == channels && asked.count == 201)
            try await phone.look()
            let second = questions().suffix(2)
            #expect(second.map(\.path) == first.map(\.path) && second.allSatisfy { $0.headers["If-None-Match"] != nil })
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

    @Test("Data for the app without a feature is listed while it is active, and cards have theirs")
    func data() async throws {
        let phone = try TestPhone()
        func action(_ type: String, _ data: String) -> JSONValue {
            ["notificationtype": .string(type), "data": .string(data)]
        }
        var greeting = action("festive", "confetti")
        greeting["translations"] = ["en": ["title": "Eid Mubarak", "msg": "m"]]
        phone.hub.setBroadcasts(
            Self.active([
                Self.document(1, type: 4, action: action("enable-feature", "free form string data")),
                Self.document(2, type: 4, starts: Self.now - 60_000, action: action("disable-feature", "later")),
                Self.document(
                    3, type: 4, action: action("enable-feature", "elsewhere"),
                    members: ["channels": ["5a0187feff0dafac2833f401"]]),
                Self.document(4, type: 4, starts: Self.now + 60_000, action: action("enable-feature", "not yet")),
                Self.feature(5, "maps", on: true), Self.document(6, type: 3, action: greeting), Self.document(7),
            ]))
        try await phone.running {
            try await phone.look()
            let data = try await phone.app.broadcasts.data()
            #expect(data.map(\.data) == ["later", "free form string data"])
            #expect(data.map(\.id) == [2, 1] && data.map(\.notificationType) == [.disableFeature, .enableFeature])
            #expect(data.allSatisfy { $0.expires == Self.now + Self.hour })
            #expect(try await phone.app.broadcasts.features().map(\.name) == ["maps"])
            let cards = try await phone.app.broadcasts.cards(language: "en")
            #expect(cards.first { $0.number == 6 }?.data == "confetti")
            #expect(cards.first { $0.number == 6 }?.notificationType == .festive)
            #expect(cards.first { $0.number == 7 }?.data == nil && cards.first { $0.number == 7 }?.notificationType == .others)
            phone.clock.advance(by: 3_601)
            #expect(try await phone.app.broadcasts.data().map(\.data) == [])
        }
    }

    @Test("A phone shows its language, else another form of it, else the default one")
    func languages() async throws {
        let phone = try TestPhone()
        var translations: JSONValue = [:]
        for tag in ["en", "pt-PT", "pt-BR", "zh-Hant", "es", "es-MX"] { translations[tag] = ["title": .string(tag), "msg": "m"] }
        phone.hub.setBroadcasts(Self.active([Self.document(1, action: ["translations": translations])]))
        try await phone.running { try await phone.look() }
        for (language, title) in [
            ("pt-PT", "pt-PT"), ("pt", "pt-BR"), ("pt-AO", "pt-BR"), ("zh-Hant-TW", "zh-Hant"), ("zh", "zh-Hant"),
            ("es-AR", "es"), ("ES-mx", "es-MX"), ("fr", "en"), ("", "en"),
        ] {
            let shown = try await Self.titles(phone, language)
            #expect(shown == [title], "\(language)")
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
