import FoundationEssentials
import Base
import MobileApp
import Synchronization
import TestSupport
import Testing

/// What the app shows of a downtime while the hub is away (seed 001, the first example).
@Suite("A downtime on the phone", .timeLimit(.minutes(10)))
struct DowntimeTests {
    private static let now: Int64 = 1_795_521_600_000
    private static let hour: Int64 = 3_600_000

    /// A pop-up as FCM brings it.
    ///
    /// - Parameter hasTexts: Whether they are in the data as well: large ones are not.
    private static func popup(
        _ title: String, version: Int64 = 1, expires: Int64 = now + hour, cancellable: Bool = true, hasTexts: Bool = true,
        channel: String? = nil
    ) -> PushMessage {
        var action: JSONValue = ["cancellable": .boolean(cancellable)]
        if hasTexts { action["translations"] = ["en": ["title": .string(title), "msg": "Back at noon."]] }
        var data = [
            "id": "7", "type": "1", "epoch": "2026-11-24T11:00:00+0000", "expiry": "120", "language": "en",
            "version": "\(version)", "starts": "\(now - hour)", "expires": "\(expires)", "partial": "true",
            "actiondata": String(decoding: action.data, as: UTF8.self),
        ]
        data["channels"] = channel
        return PushMessage(notification: .init(title: title, body: "Back at noon.", tag: "broadcast-7"), data: data)
    }

    /// The same broadcast in the hub's form.
    private static func document(version: Int64 = 1, title: String = "Down", expires: Int64 = now + hour) -> JSONValue {
        [
            "id": 7, "type": 1, "epoch": "2026-11-24T11:00:00+0000", "expiry": 120, "language": "en",
            "version": .integer(version), "starts": .integer(now - hour), "expires": .integer(expires),
            "actiondata": [
                "translations": [
                    "en": ["title": .string(title), "msg": "Back at noon."], "ar": ["title": "متوقف", "msg": "حتى الظهر"],
                ]
            ],
        ]
    }

    private static func active(_ broadcasts: [JSONValue], withdrawn: [JSONValue] = []) -> JSONValue {
        ["broadcasts": .array(broadcasts), "withdrawn": .array(withdrawn)]
    }

    /// What another server has.
    private static func file(
        _ broadcasts: [JSONValue], withdrawn: [JSONValue] = [], format: Int64 = 1
    ) -> JSONValue {
        ["format": .integer(format), "broadcasts": .array(broadcasts), "withdrawn": .array(withdrawn)]
    }

    private static func titles(_ phone: TestPhone, _ language: String = "en") async throws -> [String] {
        try await phone.app.broadcasts.cards(language: language).map(\.title)
    }

    @Test("On iOS the app makes a card of the pop-up that the system shows, though the hub is away, until its expiry")
    func popupAtStart() async throws {
        let phone = try TestPhone(.ios)
        phone.hub.setOnline(false)
        phone.push.deliver([
            Self.popup("Down", hasTexts: false),
            PushMessage(notification: .init(title: "Other", body: "b"), data: ["msi_key": "k"]),
            PushMessage(notification: .init(title: "Broken", body: "b"), data: ["id": "x", "version": "y", "actiondata": "{"]),
        ])
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down"] }
            let card = try #require(try await phone.app.broadcasts.cards(language: "fr").first)
            #expect(card.message == "Back at noon." && card.kind == .downtime && card.isCancellable)
            #expect(card.id == "hub-7" && card.version == 1 && card.expires == Self.now + Self.hour)
            phone.clock.advance(by: 3_600)
            try await eventually("it has expired") { try await Self.titles(phone).isEmpty }
            await #expect(throws: (any Error).self) { try await phone.look() }
            #expect(phone.push.popups == ["Other", "Broken"])
        }
    }

    @Test("On Android, which tells an app only the texts of a pop-up, a tap on it makes the card, though the hub is away")
    func tapOnAndroid() async throws {
        let phone = try TestPhone(.android)
        phone.hub.setOnline(false)
        phone.push.deliver([Self.popup("Down")])
        try await phone.running {
            await #expect(throws: (any Error).self) { try await phone.look() }
            #expect(try await Self.titles(phone).isEmpty && phone.push.popups == ["Down"])
            try await phone.app.broadcasts.opened(try phone.push.tap("Down"))
            #expect(try await Self.titles(phone, "ar") == ["Down"])
            // It is not the whole broadcast, which replaces it.
            phone.hub.setBroadcasts(Self.active([Self.document()]))
            phone.hub.setOnline(true)
            try await phone.look()
            #expect(try await Self.titles(phone, "ar") == ["متوقف"])
        }
    }

    @Test("Data of a pop-up without texts is not a whole broadcast: it shows nothing, and the whole one is shown")
    func withoutTexts() async throws {
        let phone = try TestPhone(.android)
        phone.push.deliver([Self.popup("Down", hasTexts: false)])
        try await phone.app.broadcasts.opened(try phone.push.tap("Down"))
        var unmarked = Self.popup("Down", hasTexts: false).data
        unmarked["partial"] = nil
        try await phone.app.broadcasts.opened(PushMessage(data: unmarked))
        #expect(try await Self.titles(phone).isEmpty)
        phone.hub.setBroadcasts(Self.active([Self.document()]))
        try await phone.running {
            try await phone.look()
            #expect(try await Self.titles(phone, "ar") == ["متوقف"])
        }
    }

    @Test("The whole broadcast replaces the pop-up's text, once, and what was closed stays closed")
    func completed() async throws {
        let phone = try TestPhone(.ios)
        phone.hub.setOnline(false)
        phone.push.deliver([Self.popup("Down")])
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone, "ar") == ["Down"] }
            phone.hub.setBroadcasts(Self.active([Self.document()]))
            phone.hub.setOnline(true)
            try await phone.look()
            #expect(try await Self.titles(phone, "ar") == ["متوقف"])
            #expect(phone.push.popups == ["Down"])
            let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            #expect(try await phone.app.broadcasts.close(card))
            #expect(phone.push.popups.isEmpty)
            // The system shows the pop-up again, such as one that FCM brings late.
            phone.push.deliver([Self.popup("Down")])
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty && phone.push.popups.isEmpty)
        }
    }

    @Test("A card of a pop-up that was closed stays closed when the whole broadcast comes, and a later version is shown")
    func closed() async throws {
        let phone = try TestPhone(.ios)
        phone.hub.setOnline(false)
        phone.push.deliver([Self.popup("Down")])
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down"] }
            let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            // The pop-up of a later version has come, and the app has not looked since.
            phone.push.deliver([Self.popup("Down until two", version: 2)])
            #expect(try await phone.app.broadcasts.close(card))
            #expect(phone.push.popups == ["Down until two"])
            phone.hub.setBroadcasts(Self.active([Self.document()]))
            phone.hub.setOnline(true)
            try await phone.look()
            #expect(try await Self.titles(phone) == ["Down until two"])
        }
    }

    @Test("What the hub has withdrawn goes, and its pop-up does not bring it back", arguments: [Platform.Kind.ios, .android])
    func withdrawn(kind: Platform.Kind) async throws {
        let phone = try TestPhone(kind)
        phone.hub.setBroadcasts(Self.active([Self.document()]))
        phone.push.deliver([Self.popup("Down", cancellable: false)])
        let withdrawn: JSONValue = ["id": 7, "version": 2, "expires": .integer(Self.now + Self.hour)]
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down"] }
            phone.hub.setBroadcasts(Self.active([], withdrawn: [withdrawn]))
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty && phone.push.popups.isEmpty)
            phone.push.deliver([Self.popup("Down")])
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty && phone.push.popups.isEmpty)
            // A version that comes later than the withdrawal, such as for other phones, is shown.
            guard kind == .ios else { return }
            phone.push.deliver([Self.popup("Down again", version: 3)])
            try await phone.look()
            #expect(try await Self.titles(phone) == ["Down again"] && phone.push.popups == ["Down again"])
        }
    }

    @Test("A card that cannot be closed keeps its pop-up")
    func cannotBeClosed() async throws {
        let phone = try TestPhone(.ios)
        phone.push.deliver([Self.popup("Down", cancellable: false)])
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down"] }
            let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            #expect(try await !phone.app.broadcasts.close(card))
            #expect(phone.push.popups == ["Down"])
        }
    }

    @Test("The pop-up of an earlier version goes when a later one says something else, and stays when it says the same")
    func earlierPopup() async throws {
        let phone = try TestPhone(.ios)
        phone.push.deliver([Self.popup("Down")])
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down"] }
            phone.hub.setBroadcasts(Self.active([Self.document(version: 2)]))
            try await phone.look()
            #expect(phone.push.popups == ["Down"])
            phone.hub.setBroadcasts(Self.active([Self.document(version: 3, title: "Down until two")]))
            try await phone.look()
            #expect(try await Self.titles(phone) == ["Down until two"] && phone.push.popups.isEmpty)
        }
    }

    @Test("A pop-up's card is that of its channel: a student who has switched the channel's broadcasts off sees none")
    func channelOff() async throws {
        let subject = TestHub.Subject(path: "Campus/Weather/Storms", level: "Forced")
        let channel = String(subject.topicKey.prefix(24))
        let phone = try TestPhone(.ios, subjects: [subject])
        try await phone.running {
            try await eventually("the phone has joined") { phone.push.topics.contains(subject.topicKey) }
            phone.push.deliver([Self.popup("Down", channel: channel)])
            try await phone.look()
            #expect(try await Self.titles(phone) == ["Down"])
            try await phone.app.broadcasts.set(channel: channel, areOn: false)
            #expect(try await Self.titles(phone).isEmpty)
        }
    }

    @Test("A pop-up that is tapped, or reaches an app in the foreground, is a card and not shown twice")
    func tapped() async throws {
        let phone = try TestPhone()
        try await phone.app.broadcasts.opened(Self.popup("Down"))
        #expect(try await Self.titles(phone) == ["Down"])
        try await phone.running {
            phone.push.receive(Self.popup("Down until two", version: 2))
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down until two"] }
            #expect(phone.push.shown.isEmpty)
        }
    }

    @Test("Android shows a pop-up in the foreground that this version of the app cannot read, as it is")
    func unreadable() async throws {
        let phone = try TestPhone(.android)
        var data = Self.popup("Later").data
        data["type"] = "9"
        let failures = Mutex(0)
        try await phone.running(failed: { _ in failures.withLock { $0 += 1 } }) {
            phone.push.receive(
                PushMessage(notification: .init(title: "Later", body: "b", tag: "broadcast-7"), data: data))
            try await eventually("it is shown") { phone.push.shown.map(\.title) == ["Later"] }
            #expect(try await Self.titles(phone).isEmpty && failures.withLock(\.self) >= 1)
        }
    }

    @Test("While the hub is away the app asks the other server, and takes nothing away that its copy lacks")
    func secondSource() async throws {
        let copy = Mutex<(status: Int, document: JSONValue)>((200, Self.file([Self.document()])))
        let asked = Mutex(0)
        let phone = try TestPhone {
            asked.withLock { $0 += 1 }
            return copy.withLock { HubAnswer(status: $0.status, body: $0.document.data) }
        }
        phone.hub.setBroadcasts(Self.active([]))
        try await phone.running {
            try await phone.look()
            #expect(asked.withLock(\.self) == 0)
            phone.hub.setOnline(false)
            await #expect(throws: (any Error).self) { try await phone.look() }
            #expect(try await Self.titles(phone) == ["Down"])
            let over: [JSONValue] = [["id": 7, "version": 2, "expires": .integer(Self.now + Self.hour)]]
            let answers: [(Int, JSONValue)] = [
                (404, Self.file([])), (200, "text"), (200, Self.file([])), (200, Self.file([], withdrawn: over, format: 2)),
            ]
            for (status, document) in answers {
                copy.withLock { $0 = (status, document) }
                await #expect(throws: (any Error).self) { try await phone.look() }
                #expect(try await Self.titles(phone) == ["Down"])
            }
            // A mirror of the hub's answer has no number.
            copy.withLock { $0 = (200, Self.active([], withdrawn: over)) }
            await #expect(throws: (any Error).self) { try await phone.look() }
            #expect(try await Self.titles(phone).isEmpty)
            // An old copy brings nothing back.
            copy.withLock { $0 = (200, Self.file([Self.document()])) }
            await #expect(throws: (any Error).self) { try await phone.look() }
            #expect(try await Self.titles(phone).isEmpty && asked.withLock(\.self) >= 6)
        }
    }
}
