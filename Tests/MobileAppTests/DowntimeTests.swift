import FoundationEssentials
import JSON
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
    private static func popup(
        _ title: String, version: Int64 = 1, expires: Int64 = now + hour, action: String = "{}"
    ) -> PushMessage {
        PushMessage(
            notification: .init(title: title, body: "Back at noon.", tag: "broadcast-7"),
            data: [
                "id": "7", "type": "1", "epoch": "2026-11-24T11:00:00+0000", "expiry": "120", "language": "en",
                "version": "\(version)", "starts": "\(now - hour)", "expires": "\(expires)", "actiondata": action,
            ])
    }

    /// The same broadcast as the hub has it.
    private static func document(version: Int64 = 1) -> JSONValue {
        [
            "id": 7, "type": 1, "epoch": "2026-11-24T11:00:00+0000", "expiry": 120, "language": "en",
            "version": .integer(version), "starts": .integer(now - hour), "expires": .integer(now + hour),
            "actiondata": [
                "translations": ["en": ["title": "Down", "msg": "Back at noon."], "ar": ["title": "متوقف", "msg": "حتى الظهر"]]
            ],
        ]
    }

    private static func active(_ broadcasts: [JSONValue], withdrawn: [JSONValue] = []) -> JSONValue {
        ["broadcasts": .array(broadcasts), "withdrawn": .array(withdrawn)]
    }

    private static func titles(_ phone: TestPhone, _ language: String = "en") async throws -> [String] {
        try await phone.app.broadcasts.cards(language: language).map(\.title)
    }

    @Test("The app makes a card of the pop-up that the system shows, though the hub is away, until its expiry")
    func popupAtStart() async throws {
        let phone = try TestPhone()
        phone.hub.setOnline(false)
        phone.push.deliver([
            Self.popup("Down"),
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
        }
    }

    @Test("The whole broadcast replaces the pop-up's text, once, and what was closed stays closed")
    func completed() async throws {
        let phone = try TestPhone()
        phone.hub.setOnline(false)
        phone.push.deliver([Self.popup("Down")])
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone, "ar") == ["Down"] }
            phone.hub.setBroadcasts(Self.active([Self.document()]))
            phone.hub.setOnline(true)
            try await phone.look()
            #expect(try await Self.titles(phone, "ar") == ["متوقف"])
            let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            #expect(try await phone.app.broadcasts.close(card))
            #expect(await phone.push.delivered().isEmpty)
            // The system shows the pop-up again, such as after a restart.
            phone.push.deliver([Self.popup("Down")])
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty)
        }
    }

    @Test("A card of a pop-up that was closed stays closed when the whole broadcast comes, and a later version is shown")
    func closed() async throws {
        let phone = try TestPhone()
        phone.hub.setOnline(false)
        phone.push.deliver([Self.popup("Down")])
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down"] }
            let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            #expect(try await phone.app.broadcasts.close(card))
            phone.hub.setBroadcasts(Self.active([Self.document()]))
            phone.hub.setOnline(true)
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty)
            phone.push.deliver([Self.popup("Down until two", version: 2)])
            try await phone.look()
            #expect(try await Self.titles(phone) == ["Down until two"])
        }
    }

    @Test("What the hub has withdrawn goes, and its pop-up does not bring it back")
    func withdrawn() async throws {
        let phone = try TestPhone()
        phone.push.deliver([Self.popup("Down", action: "{\"cancellable\":false}")])
        let withdrawn: JSONValue = ["id": 7, "version": 2, "expires": .integer(Self.now + Self.hour)]
        try await phone.running {
            try await eventually("the card is there") { try await Self.titles(phone) == ["Down"] }
            let card = try #require(try await phone.app.broadcasts.cards(language: "en").first)
            #expect(try await !phone.app.broadcasts.close(card))
            phone.hub.setBroadcasts(Self.active([], withdrawn: [withdrawn]))
            try await phone.look()
            #expect(try await Self.titles(phone).isEmpty)
            #expect(await phone.push.delivered().isEmpty)
            phone.push.deliver([Self.popup("Down")])
            try await phone.look()
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

    @Test("While the hub is away the app asks the other server, and takes nothing away that its copy lacks")
    func secondSource() async throws {
        let copy = Mutex<(status: Int, document: JSONValue)>((200, Self.active([Self.document()])))
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
            for (status, document) in [(404, Self.active([])), (200, "text"), (200, Self.active([]))] as [(Int, JSONValue)] {
                copy.withLock { $0 = (status, document) }
                await #expect(throws: (any Error).self) { try await phone.look() }
                #expect(try await Self.titles(phone) == ["Down"])
            }
            copy.withLock {
                $0 = (200, Self.active([], withdrawn: [["id": 7, "version": 2, "expires": .integer(Self.now + Self.hour)]]))
            }
            await #expect(throws: (any Error).self) { try await phone.look() }
            #expect(try await Self.titles(phone).isEmpty)
            // An old copy brings nothing back.
            copy.withLock { $0 = (200, Self.active([Self.document()])) }
            await #expect(throws: (any Error).self) { try await phone.look() }
            #expect(try await Self.titles(phone).isEmpty && asked.withLock(\.self) >= 6)
        }
    }
}
