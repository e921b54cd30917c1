import Base
import FCM
import FoundationEssentials
import Schemas
import Testing

/// What a device shows of a push to a person.
@Suite("Pushes to persons")
struct PersonPushTextTests {
    private static let push = PersonPush(
        id: "6b01", link: "#people/requests",
        texts: ["en": "You have a friend request", "ar": "لديك طلب صداقة", "pt-BR": "Um pedido"])

    private static func log(_ push: PersonPush = push) throws -> LogPush {
        try LogPush(
            idempotencyKey: "k", accounts: [try #require(AccountName("ann")), try #require(AccountName("bob"))],
            kind: .friendRequest, except: ObjectID(), fairnessKey: "friends", message: push, expires: 9)
    }

    @Test(
        "The text is in the device's language, else in that without its region, else in English",
        arguments: [
            ("ar", "ar"), ("ar-EG", "ar"), ("AR-eg", "ar"), ("pt-BR", "pt-BR"), ("pt", "en"), ("de", "en"), ("en-GB", "en"),
            ("nonsense", "en"), (nil, "en"),
        ] as [(String?, String)])
    func language(of device: String?, text: String) {
        let found = Self.push.text(in: device)
        #expect(found.language == text && found.text == Self.push.texts[text])
    }

    @Test("It is stored without its persons, and each transport gets the generic sentence, the kind, the id and the link")
    func messages() throws {
        let stored = try #require(try StoredPersonPush(Self.log()))
        #expect(stored.accounts == 2 && stored.exceptDevice != nil && stored.tag == "friend_request-6b01")
        let json = try stored.json
        #expect(StoredPersonPush.isMessage(json) && !StoredPersonPush.isMessage(["notification": ["title": "a"]]))
        #expect(!String(decoding: json.data, as: UTF8.self).contains("bob"))

        let web = stored.webPush(in: "ar-EG")
        #expect(web.payload["notification"]?["title"] == "لديك طلب صداقة" && web.payload["notification"]?["lang"] == "ar")
        #expect(web.payload["notification"]?["tag"] == "friend_request-6b01" && web.urgency == .high)
        #expect(web.payload["msi"] == ["kind": "friend_request", "id": "6b01", "link": "#people/requests"])

        let fcm = stored.fcm(in: nil)
        #expect(fcm["notification"] == ["title": "You have a friend request"])
        #expect(fcm["data"] == ["person_kind": "friend_request", "person_id": "6b01", "link": "#people/requests"])
        #expect(fcm["android"]?["priority"] == "HIGH" && fcm["android"]?["notification"]?["tag"] == "friend_request-6b01")
    }

    @Test(
        "A message without an English text, with a link to elsewhere or with a name where none belongs is refused",
        arguments: [
            (PersonPush(id: "1", link: "#a", texts: ["ar": "x"]), "message.texts"),
            (PersonPush(id: "1", link: "#a", texts: ["en": "x", "english": "y"]), "message.texts"),
            (PersonPush(id: "1", link: "#a", texts: ["en": String(repeating: "x", count: 201)]), "message.texts"),
            (PersonPush(id: "1", link: "https://example.edu", texts: ["en": "x"]), "message.link"),
            (PersonPush(id: "1", link: "people", texts: ["en": "x"]), "message.link"),
            (PersonPush(id: "ann@example.edu", link: "#a", texts: ["en": "x"]), "message.id"),
            (PersonPush(id: "1", link: "#a", texts: ["en": "x"], tag: "a b"), "message.tag"),
        ])
    func refused(push: PersonPush, field: String) throws {
        let payload = try Self.log(push).payload()
        #expect(violation { try LogPush(payload: payload) }?.field == field)
    }

    @Test("A push to persons has a kind and no transport, and another push has neither a kind nor an exception")
    func fields() {
        let rest = #""idempotency_key":"k","fairness_key":"f","expires":9"#
        let message = ##""message":{"id":"1","link":"#a","texts":{"en":"x"},"urgency":"high"}"##
        func wrong(_ fields: String) -> String? { violation { try LogPush(payload: Data("{\(fields),\(rest)}".utf8)) }?.field }
        #expect(wrong(#""accounts":["ann"],"kind":"a","except_device":"\#(ObjectID())",\#(message)"#) == nil)
        #expect(wrong(#""accounts":["ann"],\#(message)"#) == "kind")
        #expect(wrong(#""accounts":["ann"],"kind":"a","transport":"fcm",\#(message)"#) == "transport")
        #expect(wrong(#""accounts":["ann"],"kind":"a","project":"p",\#(message)"#) == "project")
        #expect(wrong(#""accounts":["ann"],"kind":"a","tokens":["t"],\#(message)"#) == "accounts")
        #expect(wrong(#""accounts":["ann","ANN"],"kind":"a",\#(message)"#) == "accounts")
        #expect(wrong(#""accounts":[],"kind":"a",\#(message)"#) == "accounts")
        #expect(wrong(#""accounts":["ann"],"kind":"Friend",\#(message)"#) == "kind")
        #expect(wrong(#""topic":"t","kind":"a",\#(message)"#) == "kind")
        #expect(wrong(#""topic":"t","except_device":"\#(ObjectID())",\#(message)"#) == "except_device")
    }
}
