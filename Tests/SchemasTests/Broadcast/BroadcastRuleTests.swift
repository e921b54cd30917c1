import FoundationEssentials
import Base
import Testing

@testable import Schemas

@Suite("Rules of broadcasts")
struct BroadcastRuleTests {
    private static let now: UnixMilliseconds = 1_795_262_462_399

    private static func field(_ json: String) -> String? {
        violation { try BroadcastDraft(anyForm: Data(json.utf8)).checkForSending(language: "en", now: now) }?.field
    }

    private static func broadcast(_ members: String, action: String = #""translations":{"en":{"title":"a","msg":"b"}}"#) -> String
    {
        "{\(members.isEmpty ? "" : members + ",")\"actiondata\":{\(action)}}"
    }

    @Test(
        "Each broken rule is an error that names the field",
        arguments: [
            (#""type":5,"expiry":1"#, "type"), (#""type":"x","expiry":1"#, "type"), (#""expiry":1"#, "type"),
            (#""type":1"#, "expiry"), (#""type":1,"expiry":0"#, "expiry"), (#""type":1,"expiry":525601"#, "expiry"),
            (#""type":1,"expiry":1.5"#, "expiry"), (#""type":1,"expiry":"soon""#, "expiry"),
            (#""type":1,"expiry":60,"epoch":"2016-08-29T02:40:33+0530""#, "expiry"),
            (#""type":1,"expiry":1,"epoch":"tomorrow""#, "epoch"),
            (#""type":1,"expiry":1,"epoch":"2036-08-29T02:40:33+0530""#, "epoch"),
            (#""type":1,"expiry":1,"relativetime":2"#, "relativetime"), (#""type":1,"expiry":1,"id":0"#, "id"),
            (#""type":1,"expiry":1,"channels":[]"#, "channels"), (#""type":1,"expiry":1,"channels":["x"]"#, "channels[0]"),
            (#""type":1,"expiry":1,"channels":["5a0187feff0dafac2833f401","5a0187feff0dafac2833f401"]"#, "channels[1]"),
            (#""type":1,"expiry":1,"condition":"a in topics""#, "condition"),
            (#""type":1,"expiry":1,"condition":"""#, "condition"), (#""type":1,"expiry":1,"condition":" ""#, "condition"),
            (#""type":1,"expiry":1,"channels":"""#, "channels"),
            (#""type":1,"expiry":1,"condition":"'a' in topics","channels":["5a0187feff0dafac2833f401"]"#, "condition"),
            (#""type":1,"expiry":60,"repeat":14"#, "repeat"), (#""type":1,"expiry":2,"lifetime":60000"#, "lifetime"),
            (#""type":1,"lifetime":999"#, "lifetime"),
            (#""type":1,"expiry":60,"repeat":60"#, "repeat"),
            (#""type":1,"expiry":"60000millis","lifetime":60000"#, "expiry"),
            (#""type":1,"expiry":1,"colour":"red""#, "colour"),
        ])
    func members(members: String, field: String) {
        #expect(Self.field(Self.broadcast(members)) == field)
    }

    @Test(
        "The action data is checked by the type",
        arguments: [
            (1, #""translations":{"xx":{"title":"a","msg":"b"},"en":{"title":"a","msg":"b"}}"#, "actiondata.translations.xx"),
            (
                1, #""translations":{"en":{"title":"a","msg":"b"},"EN":{"title":"c","msg":"d"}}"#,
                "actiondata.translations.en"
            ),
            (1, #""translations":{"ar":{"title":"a","msg":"b"}}"#, "actiondata.translations.en"),
            (1, #""translations":{"en":{"title":"","msg":"b"}}"#, "actiondata.translations.en.title"),
            (1, #""translations":{"en":{"title":"a"}}"#, "actiondata.translations.en.msg"), (2, "", "actiondata.translations"),
            (3, #""translations":{"en":{"title":"a","msg":"b"}},"poster":"http://x.org/a""#, "actiondata.poster"),
            (1, #""translations":{"en":{"title":"a","msg":"b"}},"notificationtype":"festive""#, "actiondata.notificationtype"),
            (1, #""translations":{"en":{"title":"a","msg":"b"}},"feature":"x""#, "actiondata.feature"),
            (1, #""translations":{"en":{"title":"a","msg":"b"}},"popup":"yes""#, "actiondata.popup"),
            (2, #""translations":{"en":{"title":"a","msg":"b"}},"popup":true"#, "actiondata.popup"),
            (3, #""translations":{"en":{"title":"a","msg":"b"}},"popup":false"#, "actiondata.popup"),
            (4, #""notificationtype":"enable-feature","feature":"x","popup":false"#, "actiondata.popup"),
            (4, #""feature":"x""#, "actiondata.notificationtype"),
            (4, #""notificationtype":"enable-feature""#, "actiondata.feature"),
            (4, #""notificationtype":"enable-feature","feature":"a b""#, "actiondata.feature"),
            (4, #""notificationtype":"enable-feature","feature":"x","share":0"#, "actiondata.share"),
            (4, #""notificationtype":"enable-feature","feature":"x","group":"A""#, "actiondata.group"),
            (4, #""notificationtype":"enable-feature","feature":"x","share":"""#, "actiondata.share"),
            (4, #""notificationtype":"enable-feature","feature":"x","share":60,"group":"B""#, "actiondata.share"),
            (4, #""notificationtype":"enable-feature","feature":"x","share":51,"group":"A""#, "actiondata.share"),
            (4, #""notificationtype":"enable-feature","feature":"x","cancellable":true"#, "actiondata.cancellable"),
        ])
    func actionData(type: Int, action: String, field: String) {
        #expect(Self.field(Self.broadcast("\"type\":\(type),\"expiry\":60", action: action)) == field)
    }

    @Test("Valid ones")
    func valid() {
        #expect(Self.field(Self.broadcast(#""type":1,"expiry":60"#)) == nil)
        #expect(Self.field(Self.broadcast(#""type":2,"expiry":60,"epoch":"2026-12-01T00:00:00+0000","repeat":15"#)) == nil)
        let feature = #""notificationtype":"disable-feature","feature":"dark-cards","share":50,"group":"B""#
        #expect(Self.field(Self.broadcast(#""type":4,"expiry":60,"condition":"'a' in topics""#, action: feature)) == nil)
        let withoutPopup = #""translations":{"en":{"title":"a","msg":"b"}},"popup":false"#
        #expect(Self.field(Self.broadcast(#""type":1,"expiry":60"#, action: withoutPopup)) == nil)
        let most = #""notificationtype":"enable-feature","feature":"dark-cards","share":90"#
        #expect(Self.field(Self.broadcast(#""type":4,"expiry":60"#, action: most)) == nil)
    }

    @Test(
        "Language tags",
        arguments: [
            ("en", true), ("pt-BR", true), ("zh-Hant-TW", true), ("EN-gb", true), ("es-419", true), ("iw", true), ("in-ID", true),
            ("xx", false),
            ("sat", true), ("mai", true), ("kok", true), ("mni-Mtei-IN", true), ("brx", true), ("DOI", true), ("fil-PH", true),
            ("eng", false), ("inc", false), ("und", false),
            ("english", false), ("en-", false), ("en-GBR", false), ("", false),
        ])
    func languageTags(tag: String, isKnown: Bool) {
        #expect((LanguageTag(tag) != nil) == isKnown)
    }

    @Test("A phone shows its language, else that language without the region or of another region, else the default one")
    func texts() {
        let regions = BroadcastActionData(translations: [
            "en": .init(title: "Hello", msg: "m"), "pt-PT": .init(title: "Olá", msg: "m"), "pt-BR": .init(title: "Oi", msg: "m"),
        ])
        for (language, title) in [("pt", "Oi"), ("pt-AO", "Oi"), ("pt-PT", "Olá"), ("p", "Hello")] {
            #expect(regions.texts(in: language, or: "en")?.title == title, "\(language)")
        }
        let action = BroadcastActionData(translations: [
            "en": .init(title: "Hello", msg: "m"), "pt": .init(title: "Olá", msg: "m"), "pt-BR": .init(title: "Oi", msg: "m"),
        ])
        let old = BroadcastActionData(translations: ["en": .init(title: "Hello", msg: "m"), "he": .init(title: "שלום", msg: "m")])
        #expect(old.texts(in: "iw-IL", or: "en")?.title == "שלום" && old.texts(in: "ji", or: "en")?.title == "Hello")
        for (language, title) in [("pt-br", "Oi"), ("pt-PT", "Olá"), ("pt", "Olá"), ("ar", "Hello"), ("en-GB", "Hello")] {
            #expect(action.texts(in: language, or: "en")?.title == title, "\(language)")
        }
    }

    @Test("Topic conditions are read from left to right, as FCM does")
    func conditions() {
        let topics: Set = ["a", "c"]
        for (condition, value) in [
            ("'a' in topics", true), ("'b' in topics", false), ("!('b' in topics)", true),
            ("'a' in topics && 'b' in topics || 'c' in topics", true), ("'a' in topics || 'b' in topics && 'd' in topics", false),
            ("'a' in topics || ('b' in topics && 'd' in topics)", true), ("'a' in", false), ("", false),
        ] {
            #expect(TopicCondition.isFulfilled(condition, by: topics) == value, "\(condition)")
        }
    }

    @Test("The data of a push has the fields as strings, and reads back as the same broadcast")
    func pushData() throws {
        let draft = BroadcastDraft(
            type: .greetings, expiry: 90,
            actionData: BroadcastActionData(
                poster: "https://x.org/a", translations: ["en": .init(title: "Eid \"Mubarak\"", msg: "ع")]),
            channels: [try #require(ObjectID("5a0187feff0dafac2833f401")), try #require(ObjectID("5a0187feff0dafac2833f402"))])
        let broadcast = PhoneBroadcast(Broadcast(draft, id: 7, language: "en", sender: "ann", now: Self.now))
        let push = BroadcastPushData.broadcast(broadcast)
        let data = try push.data
        #expect(
            Set(data.keys) == [
                "id", "type", "epoch", "expiry", "actiondata", "language", "version", "starts", "expires", "channels",
            ])
        #expect(data["id"] == "7" && data["type"] == "3" && data["expiry"] == "90" && data["version"] == "1")
        #expect(
            data["actiondata"]
                == #"{"poster":"https://x.org/a","translations":{"en":{"msg":"ع","title":"Eid \"Mubarak\""}}}"#)
        #expect(try BroadcastPushData(data) == push)
        #expect(try push.bytes == data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count })
        // The size that the author sees is that of the push.
        #expect(try BroadcastPushData.broadcast(PhoneBroadcast(Self.edited, until: .max)).data["until"] == nil)
        let withdrawal = BroadcastPushData.withdrawal(WithdrawnBroadcast(id: 7, version: 2, expires: 5))
        #expect(try BroadcastPushData(try withdrawal.data) == withdrawal)
    }

    @Test("Data of other messages is none, and a damaged broadcast is an error")
    func otherData() throws {
        #expect(try BroadcastPushData(["msi_key": "1", "id": "1", "version": "1", "actiondata": "{}"]) == nil)
        #expect(try BroadcastPushData(["hello": "world"]) == nil)
        for data in [
            ["id": "x", "version": "1", "withdrawn": "true", "expires": "1"], ["id": "1", "version": "1", "actiondata": "{"],
            ["id": "1", "version": "1", "actiondata": "{}"],
        ] {
            #expect(throws: (any Error).self, "\(data)") { try BroadcastPushData(data) }
        }
    }

    private static let edited: Broadcast = {
        let draft = BroadcastDraft(
            type: .downtime, expiry: 60, actionData: BroadcastActionData(translations: ["en": .init(title: "a", msg: "b")]))
        var shorter = draft
        shorter.expiry = 5
        return Broadcast(draft, id: 7, language: "en", sender: "ann", now: now).edited(shorter, language: "en", now: now + 60_000)
    }()

    @Test("The earlier versions of a broadcast are over, until the last of them expires")
    func earlierVersions() {
        let until = Self.now + 3_600_000
        #expect(
            PhoneBroadcast(Self.edited, until: until).earlierVersions == WithdrawnBroadcast(id: 7, version: 1, expires: until))
        #expect(PhoneBroadcast(Self.edited).earlierVersions?.expires == Self.edited.expires)
        #expect(PhoneBroadcast(Self.edited, until: Self.edited.expires).until == nil)
        var first = Self.edited
        first.version = 1
        #expect(PhoneBroadcast(first).earlierVersions == nil)
        #expect(WithdrawnBroadcast(Self.edited, until: until) == WithdrawnBroadcast(id: 7, version: 2, expires: until))
    }

    @Test("An edit that names the stored epoch keeps the exact beginning, and one that changes nothing is no version")
    func keptBeginning() {
        var draft = BroadcastDraft(
            type: .downtime, expiry: 60, actionData: BroadcastActionData(translations: ["en": .init(title: "a", msg: "b")]))
        let broadcast = Broadcast(draft, id: 7, language: "en", sender: "ann", now: Self.now)
        draft.epoch = broadcast.epoch
        #expect(broadcast.edited(draft, language: "en", now: Self.now + 9) == broadcast)
        draft.expiry = 90
        let edited = broadcast.edited(draft, language: "en", now: Self.now + 9)
        #expect(edited.starts == Self.now && edited.expires == Self.now + 5_400_000)
        #expect(edited.version == 2 && edited.changed == Self.now + 9)
        // Without an epoch it starts now.
        draft.epoch = nil
        #expect(edited.edited(draft, language: "en", now: Self.now + 9).starts == Self.now + 9)
    }
}
