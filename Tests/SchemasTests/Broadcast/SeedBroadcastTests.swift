import FoundationEssentials
import Base
import Testing

@testable import Schemas

/// Every JSON document of seeds 001 and 004, which both have the same ones. Their placeholders, such as `channel-id`, are replaced by
/// values; as they stand, they are errors that name the field.
@Suite("Broadcasts in the forms of the seeds")
struct SeedBroadcastTests {
    private static let channel = "5a0187feff0dafac2833f401"
    private static let english = BroadcastActionData.Translation(
        title: "Welcome to Sunbird!",
        msg: "Congratulations on downloading Sunbird, every child's best friend in their learning journey.")
    private static let now: UnixMilliseconds = 1_795_262_462_399

    private static let display = """
        {
        "actiontype": "display",
        "notificationtype": "general",
        "notificationid": "1235",
        "expiry": "34646millis",
        "type": "cancellable",
        "channel": "\(channel)",
        "poster": "https://example.edu/poster.png",
        "fields": [
        {
        "language": "en",
        "title": "Welcome to Sunbird!",
        "msg": "Congratulations on downloading Sunbird, every child's best friend in their learning journey."
        },
        {
        "language": "hi",
        "title": "Welcome to Sunbird!",
        "msg": "Congratulations on downloading Sunbird, every child's best friend in their learning journey."
        }
        ]
        }
        """

    private static let nonDisplay = """
        {
        "actiontype": "non-display",
        "notificationtype": "enable-feature",
        "notificationid": "1235",
        "expiry": "34646millis",
        "data": "free form string data"
        }
        """

    private static let intermediate = """
        {
        "id": "",
        "type": "",
        "epoch": "",
        "expiry": "60",
        "relative": "",
        "poster": "",
        "actiondata": "",
        "translations": {
        "en":{
        "title": "Welcome to Sunbird!",
        "msg": "Congratulations on downloading Sunbird, every child's best friend in their learning journey."
        },
        "hi":{
        "title": "Welcome to Sunbird!",
        "msg": "Congratulations on downloading Sunbird, every child's best friend in their learning journey."
        }
        }
        }
        """

    private static func draft(_ json: String) throws -> BroadcastDraft { try BroadcastDraft(anyForm: Data(json.utf8)) }

    @Test("Payload for display messages, field by field")
    func displayForm() throws {
        let draft = try Self.draft(Self.display)
        #expect(draft.id == 1_235)
        #expect(draft.type == .others)
        #expect(draft.relativeTime == nil && draft.epoch == nil && draft.expiry == nil)
        #expect(draft.lifetime == 34_646)
        #expect(draft.channels?.map(\.description) == [Self.channel])
        #expect(draft.actionData.notificationType == .general)
        #expect(draft.actionData.poster == "https://example.edu/poster.png")
        #expect(draft.actionData.cancellable == true)
        #expect(draft.actionData.translations == ["en": Self.english, "hi": Self.english])
        #expect(draft.actionData.feature == nil && draft.actionData.data == nil)
    }

    @Test("34646millis counts from the time of sending, exactly, and is rounded up to minutes in the agreed form")
    func lifetime() throws {
        let draft = try Self.draft(Self.display)
        try draft.checkForSending(language: "en", now: Self.now)
        let broadcast = Broadcast(draft, id: 1_235, language: "en", sender: "ann", now: Self.now)
        #expect(broadcast.starts == Self.now && broadcast.expires == Self.now + 34_646 && broadcast.expiry == 1)
        #expect(try broadcast.document(in: .display)["expiry"] == "34646millis")
    }

    @Test(
        "Each notification type of the display form has its type",
        arguments: [("general", BroadcastType.others), ("festive", .greetings), ("downtime", .downtime), ("others", .others)])
    func notificationTypes(name: String, type: BroadcastType) throws {
        let draft = try Self.draft(Self.display.replacing("\"general\"", with: "\"\(name)\""))
        #expect(draft.type == type && draft.actionData.notificationType?.rawValue == name)
    }

    @Test("non-cancellable")
    func nonCancellable() throws {
        let draft = try Self.draft(Self.display.replacing("\"cancellable\"", with: "\"non-cancellable\""))
        #expect(draft.actionData.cancellable == false)
    }

    @Test(
        "The placeholders of the display form are errors that name the field",
        arguments: [
            ("\"general\"", "\"general/festive/downtime/others\"", "notificationtype"),
            ("\"cancellable\"", "\"cancellable/non-cancellable\"", "type"),
            ("\"\(channel)\"", "\"channel-id\"", "channel"), ("\"\(channel)\"", "\"\"", "channel"),
            ("\"https://example.edu/poster.png\"", "\"image-url\"", "poster"),
            ("\"hi\"", "\"klingon\"", "fields[1].language"),
            ("\"en\",\n\"title\": \"Welcome to Sunbird!\"", "\"en\",\n\"title\": \" \"", "fields[0].title"),
            ("\"display\"", "\"show\"", "actiontype"), ("\"1235\"", "\"1235a\"", "notificationid"),
        ])
    func displayPlaceholders(value: String, placeholder: String, field: String) {
        #expect(violation { try Self.draft(Self.display.replacing(value, with: placeholder)) }?.field == field)
    }

    @Test("Payload for non-display messages, field by field")
    func nonDisplayForm() throws {
        let draft = try Self.draft(Self.nonDisplay)
        #expect(draft.id == 1_235 && draft.type == .nonDisplay && draft.lifetime == 34_646)
        #expect(draft.actionData.notificationType == .enableFeature)
        #expect(draft.actionData.data == "free form string data")
        #expect(draft.actionData.translations == nil && draft.actionData.cancellable == nil && draft.actionData.poster == nil)
        let disabling = try Self.draft(Self.nonDisplay.replacing("enable-feature", with: "disable-feature"))
        #expect(disabling.actionData.notificationType == .disableFeature)
        let placeholder = Self.nonDisplay.replacing("enable-feature", with: "enable-feature/disable-feature")
        #expect(violation { try Self.draft(placeholder) }?.field == "notificationtype")
    }

    @Test("The intermediate structure, field by field: empty texts count as absent")
    func intermediateForm() throws {
        let draft = try Self.draft(Self.intermediate)
        #expect(draft.id == nil && draft.epoch == nil && draft.relativeTime == nil && draft.expiry == 60)
        #expect(draft.type == .others)
        #expect(draft.actionData == BroadcastActionData(translations: ["en": Self.english, "hi": Self.english]))
        let full = try Self.draft(
            Self.intermediate.replacing("\"id\": \"\"", with: "\"id\": \"7\"")
                .replacing("\"type\": \"\"", with: "\"type\": \"1\"")
                .replacing("\"epoch\": \"\"", with: "\"epoch\": \"2016-08-29T02:40:33+0530\"")
                .replacing("\"poster\": \"\"", with: "\"poster\": \"https://example.edu/a.png\"")
                .replacing("\"actiondata\": \"\"", with: #""actiondata": "{\"cancellable\":false,\"data\":\"x\"}""#))
        #expect(full.id == 7 && full.type == .downtime && full.epoch?.text == "2016-08-29T02:40:33+0530")
        #expect(full.actionData.poster == "https://example.edu/a.png")
        #expect(full.actionData.cancellable == false && full.actionData.data == "x")
        let local = try Self.draft(
            Self.intermediate.replacing("\"expiry\": \"60\"", with: "\"expiry\": \"\"")
                .replacing("\"relative\": \"\"", with: "\"relative\": 2").replacing("\"id\": \"\"", with: "\"id\": 1"))
        #expect(local.relativeTime == 2)
        try local.checkForShipping(language: "en")
        let text = try Self.draft(Self.intermediate.replacing("\"actiondata\": \"\"", with: "\"actiondata\": \"anything\""))
        #expect(text.actionData.data == "anything")
    }

    @Test("The agreed structure, field by field, as a local and as a server broadcast")
    func agreedForm() throws {
        let local = try Self.draft(
            """
            {"id": 1, "type": 1, "relativetime": 2, "epoch":"", "expiry":"",
             "actiondata":{"translations":{"en":{"title":"Welcome to Sunbird!","msg":"Congratulations"}}}}
            """)
        #expect(local.id == 1 && local.type == .downtime && local.relativeTime == 2)
        #expect(local.epoch == nil && local.expiry == nil)
        try local.checkForShipping(language: "en")
        #expect { try local.checkForSending(language: "en", now: Self.now) } throws: {
            ($0 as? SchemaViolation)?.field == "relativetime"
        }
        let server = try Self.draft(
            """
            {"id": 1, "type": 3, "epoch":"2026-11-25T06:00:00+0530", "expiry": 90,
             "actiondata":{"translations":{"en":{"title":"Eid Mubarak","msg":"To all"}},"poster":"https://example.edu/eid.png"}}
            """)
        #expect(server.epoch?.moment == 1_795_566_600_000 && server.expiry == 90)
        #expect { try server.checkForShipping(language: "en") } throws: { ($0 as? SchemaViolation)?.field == "relativetime" }
        // "actiondata": {} as it stands in the seed.
        let empty = #"{"id": 1, "type": 1, "relativetime": 2, "epoch":"", "expiry":"", "actiondata":{}}"#
        #expect(violation { try Self.draft(empty) }?.field == "actiondata.translations")
    }

    @Test("Each form that can say a broadcast is produced, and read again it is the same", arguments: BroadcastForm.allCases)
    func produced(form: BroadcastForm) throws {
        let json = form == .nonDisplay ? Self.nonDisplay : Self.display
        let draft = try Self.draft(json)
        let broadcast = Broadcast(draft, id: 1_235, language: "en", sender: "ann", now: 1_795_262_462_000)
        let document = try broadcast.document(in: form)
        let again = try BroadcastDraft(anyForm: document.data)
        #expect(again.id == 1_235 && again.type == draft.type)
        var (left, right) = (again.actionData, draft.actionData)
        // The first forms always name it.
        left.notificationType = left.notificationType ?? .general
        right.notificationType = right.notificationType ?? .general
        #expect(left == right)
        switch form {
        case .display, .nonDisplay:
            var original = try JSONValue(parsing: Data(json.utf8))
            // Sent again, it begins when it has begun.
            original["epoch"] = .string(broadcast.epoch.text)
            #expect(document == original)
        case .agreed, .intermediate: #expect(again.epoch == broadcast.epoch && again.expiry == 1)
        }
        let other = form == .nonDisplay ? BroadcastForm.display : .nonDisplay
        #expect { try broadcast.document(in: other) } throws: { ($0 as? SchemaViolation)?.field == "form" }
    }

    @Test(
        "A form keeps the audience, the repetition and the data, under the hub's own names if it has none",
        arguments: BroadcastForm.allCases)
    func additions(form: BroadcastForm) throws {
        let isSwitch = form == .nonDisplay
        let audiences: [(channels: [ObjectID]?, condition: String?)] = [
            ([ObjectID()], nil), ([ObjectID(), ObjectID()], nil), (nil, "'a' in topics"),
        ]
        for audience in audiences {
            let draft = BroadcastDraft(
                id: 1, type: isSwitch ? .nonDisplay : .others, expiry: 60,
                actionData: isSwitch
                    ? BroadcastActionData(notificationType: .enableFeature, feature: "maps", data: "x")
                    : BroadcastActionData(translations: ["en": .init(title: "t", msg: "m")], data: "x"),
                channels: audience.channels, condition: audience.condition, repetition: 15)
            let broadcast = Broadcast(draft, id: 1, language: "en", sender: "ann", now: 1_795_262_462_000)
            let again = try BroadcastDraft(anyForm: broadcast.document(in: form).data)
            #expect(again.channels == audience.channels && again.condition == audience.condition)
            #expect(again.repetition == 15 && again.actionData.data == "x")
        }
    }

    @Test(
        "Each form that can say a downtime says whether it has a pop-up, and one that names the default changes nothing",
        arguments: [BroadcastForm.agreed, .intermediate, .display])
    func popup(form: BroadcastForm) throws {
        let now: UnixMilliseconds = 1_795_262_462_000
        var draft = BroadcastDraft(
            id: 1, type: .downtime, expiry: 60,
            actionData: BroadcastActionData(translations: ["en": .init(title: "t", msg: "m")], popup: false))
        let without = Broadcast(draft, id: 1, language: "en", sender: "ann", now: now)
        let document = try without.document(in: form)
        #expect(try BroadcastDraft(anyForm: document.data).actionData.popup == false)
        draft.actionData.popup = nil
        let usual = Broadcast(draft, id: 1, language: "en", sender: "ann", now: now)
        draft.actionData.popup = true
        draft.epoch = usual.epoch
        #expect(usual.edited(draft, language: "en", now: now + 1_000) == usual)
        #expect(without.edited(draft, language: "en", now: now + 1_000).version == 2)
    }

    @Test("Only type 1 has a pop-up in the display form, whose error names the field as it has it")
    func popupOfAnother() throws {
        let json = Self.display.replacing("\"type\": \"cancellable\"", with: "\"type\": \"cancellable\", \"popup\": true")
        #expect(json != Self.display)
        #expect(violation { try Self.draft(json) }?.field == "popup")
    }

    @Test("A document in any form, sent again as it is, changes nothing", arguments: BroadcastForm.allCases)
    func sentAgain(form: BroadcastForm) throws {
        let now: UnixMilliseconds = 1_795_262_462_399
        for lifetime: Milliseconds in [130_500, 7_200_000] {
            for epoch in [nil, BroadcastEpoch(now + 86_400_000)] {
                var draft = try Self.draft(form == .nonDisplay ? Self.nonDisplay : Self.display)
                (draft.lifetime, draft.epoch) = (lifetime, epoch)
                // The defaults, which two forms name.
                draft.actionData.cancellable = nil
                draft.actionData.notificationType = form == .nonDisplay ? .enableFeature : nil
                let broadcast = Broadcast(draft, id: 1_235, language: "en", sender: "ann", now: now)
                let again = try BroadcastDraft(anyForm: broadcast.document(in: form).data)
                try again.checkForSending(language: "en", now: now + 60_000)
                #expect(broadcast.edited(again, language: "en", now: now + 60_000) == broadcast)
            }
        }
    }

    @Test(
        "Errors in the first two forms say what is expected there",
        arguments: [
            ("\"34646millis\"", "\"346460\"", "expiry", "34646millis"), ("\"34646millis\"", "346460", "expiry", "34646millis"),
            ("\"poster\"", "\"colour\"", "colour", "notificationid"),
            ("\"fields\": [", "\"fields\": {}, \"data\": [", "fields", "array"),
        ])
    func expectations(value: String, other: String, field: String, word: String) {
        let violation = violation { try Self.draft(Self.display.replacing(value, with: other)) }
        #expect(violation?.field == field && violation?.problem.contains(word) == true, "\(String(describing: violation))")
    }

    @Test("What the hub finds wrong is named as the document has it")
    func renamed() throws {
        func name(_ field: String, in json: String) throws -> String? {
            try WrittenBroadcast(Data(json.utf8)).renamed(CommandFailure(.invalid, "\(field): wrong", field: field)).field
        }
        #expect(try name("id", in: Self.display) == "notificationid")
        #expect(try name("lifetime", in: Self.display) == "expiry")
        #expect(try name("channels[0]", in: Self.display) == "channel")
        #expect(try name("actiondata.translations.fr", in: Self.display) == "fields")
        #expect(try name("actiondata.translations.hi.msg", in: Self.display) == "fields[1].msg")
        #expect(try name("actiondata.translations.hi", in: Self.display) == "fields[1].language")
        #expect(try name("actiondata", in: Self.display) == "fields")
        #expect(try name("actiondata", in: Self.nonDisplay) == "data")
        let intermediate = #"{"type":2,"expiry":"5","translations":{"en":{"title":"t","msg":"m"}}}"#
        #expect(try name("actiondata.translations.hi", in: intermediate) == "translations.hi")
        let failure = try WrittenBroadcast(Data(Self.display.utf8)).renamed(CommandFailure(.conflict, "id: taken", field: "id"))
        #expect(failure == CommandFailure(.conflict, "notificationid: taken", field: "notificationid"))
    }
}
