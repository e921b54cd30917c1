import FoundationEssentials
import Base
import Testing

@testable import Schemas

@Suite("Delivery options")
struct DeliveryOptionsTests {
    private static let all = """
        {"image":"https://cdn.test/a.png","link":"mailto:desk@campus.test","collapse_key":"storm","analytics_label":"storm_1~%.-","android":{"channel_id":"alerts"},
         "apns":{"category":"ALERT"}}
        """

    private static func read(_ text: String) throws -> DeliveryOptions {
        try JSONCoder.decodeStrictly(DeliveryOptions.self, from: Data(text.utf8))
    }

    @Test("All options are read, and written with the same names")
    func roundTrip() throws {
        let options = try Self.read(Self.all)
        #expect(
            options
                == DeliveryOptions(
                    image: "https://cdn.test/a.png", link: "mailto:desk@campus.test", collapseKey: "storm",
                    analyticsLabel: "storm_1~%.-", android: .init(channelID: "alerts"), apns: .init(category: "ALERT")))
        #expect(try JSONCoder.decode(DeliveryOptions.self, from: JSONCoder.encode(options)) == options)
        #expect(try Self.read("{}") == DeliveryOptions())
    }

    @Test(
        "A wrong option is refused by name",
        arguments: [
            (#"{"image":"http://cdn.test/a.png"}"#, "image"), (#"{"image":"https://cdn.test/a b"}"#, "image"),
            (#"{"image":"https://ä.test"}"#, "image"), (#"{"image":"https://"}"#, "image"), (#"{"image":"https:///a"}"#, "image"),
            (#"{"image":"https://?a"}"#, "image"),
            (#"{"image":"https://:443/x"}"#, "image"), (#"{"image":"https://@/x"}"#, "image"),
            (#"{"image":"https://#x"}"#, "image"),
            (#"{"link":"http://campus.test/"}"#, "link"), (#"{"link":"javascript:alert(1)"}"#, "link"),
            (#"{"link":"campus.test"}"#, "link"), (#"{"link":"https://"}"#, "link"), (#"{"link":"tel:1 2"}"#, "link"),
            (#"{"link":"HTTPS://campus.test/"}"#, "link"), (#"{"link":""}"#, "link"), (#"{"link":7}"#, "link"),
            (#"{"link":"tel:\#(String(repeating: "1", count: 997))"}"#, "link"),
            (#"{"collapse_key":"two words"}"#, "collapse_key"),
            (#"{"collapse_key":""}"#, "collapse_key"),
            (#"{"collapse_key":"\#(String(repeating: "k", count: 51))"}"#, "collapse_key"),
            (#"{"analytics_label":"grüße"}"#, "analytics_label"), (#"{"android":{}}"#, "android.channel_id"),
            (#"{"android":{"channel_id":" "}}"#, "android.channel_id"), (#"{"apns":{"category":7}}"#, "apns.category"),
            (#"{"apns":{"category":"A","badge":1}}"#, "apns.badge"), (#"{"sound":"loud"}"#, "sound"),
        ])
    func wrong(text: String, field: String) {
        #expect(violation { try Self.read(text) }?.field == field)
    }

    @Test(
        "A new picture has no user, and its host is not the phone itself or in its network; a stored one goes out",
        arguments: [
            "https://user:pass@cdn.test/a.png", "https://cdn.test@10.0.0.1/a", "https://localhost/a.png", "https://LOCALHOST./a",
            "https://a.localhost/x", "https://127.0.0.1/a", "https://127.1/a", "https://0x7f000001/", "https://2130706433/",
            "https://10.1.2.3/",
            "https://172.31.0.1/a", "https://192.168.1.1:8443/a", "https://169.254.169.254/latest", "https://100.64.0.1/",
            "https://0.0.0.0/a",
            "https://[::1]/a.png", "https://[fe80::1]/", "https://[fd00::1]:443/", "https://[::ffff:10.0.0.1]/",
            "https://printer.local/a",
            "https://224.0.0.1/", "https://%6cocalhost/a", "https://[2002:7f00:1::]/", "https://[2001:0:1::]/",
        ])
    func hosts(image: String) throws {
        let draft = MessageContent(
            title: "T", desc: "D", message: "M", topicKey: try #require(TopicKey(DraftTests.topicKey)), distribution: .alert,
            options: DeliveryOptions(image: image))
        let violation = #expect(throws: SchemaViolation.self) { try draft.check() }
        #expect(violation?.field == "options.image")
        let relayed = RelayMessage(msiKey: ObjectID(), timestamp: 0, content: draft)
        if PictureAddress.isWellFormed(image) { #expect(try RelayMessage(payload: relayed.payload()) == relayed) }
        let poster = BroadcastActionData(poster: image, translations: ["en": .init(title: "t", msg: "m")])
        #expect(throws: SchemaViolation.self) { try poster.check(for: .others) }
    }

    @Test(
        "Other hosts are valid",
        arguments: [
            "https://cdn.test/a@b.png?x=@", "https://8.8.8.8/a", "https://[2001:4860:4860::8888]/", "https://127.example.edu/",
            "https://a.test.",
        ])
    func publicHosts(image: String) {
        #expect(PictureAddress.problem(with: image) == nil)
    }

    @Test(
        "A new link is a page on a public host, a number to call, or one mail address",
        arguments: [
            "https://user@campus.test/", "https://localhost/", "https://10.0.0.1/", "https://printer.local/", "tel:", "tel:+",
            "tel:*21*0301234%23", "tel:*21#", "tel:abc", "tel:112;phone-context=x", "mailto:", "mailto:desk",
            "mailto:@campus.test", "mailto:a@b.test,c@d.test", "mailto:a@b.test?cc=c@d.test",
            "mailto:a@b.test?attach=/etc/passwd",
            "mailto:a@b.test?subject=x&bcc=c@d.test", "mailto:a@b.test?subject=<b>",
        ])
    func links(link: String) throws {
        let draft = MessageContent(
            title: "T", desc: "", message: "M", topicKey: try #require(TopicKey(DraftTests.topicKey)), distribution: .information,
            options: DeliveryOptions(link: link))
        #expect(violation { try draft.check() }?.field == "options.link")
    }

    @Test(
        "Other links are valid",
        arguments: [
            "https://campus.test/plan?day=1#room", "tel:112", "tel:+49-30-1234", "tel:(030)1234.5;ext=67",
            "mailto:desk@campus.test", "mailto:a+b@campus.test?subject=Room%20B%2012&body=Hello",
            "tel:" + String(repeating: "1", count: 996),
        ])
    func validLinks(link: String) throws {
        #expect(LinkAddress.problem(with: link) == nil)
        #expect(try Self.read(#"{"link":"\#(link)"}"#) == DeliveryOptions(link: link))
    }

    @Test("A portal's message can have delivery options")
    func draft() throws {
        let draft =
            #"{"title":"T","desc":"D","message":"M","topic_key":"\#(DraftTests.topicKey)","distribution":"Alert","options":"#
        let decoded = try JSONCoder.decodeStrictly(MessageContent.self, from: Data((draft + Self.all + "}").utf8))
        #expect(try decoded.options == Self.read(Self.all))
        #expect(violation(of: MessageContent.self, in: draft + #"{"image":"x"}}"#)?.field == "options.image")
    }

    @Test("Options that were stored under other rules are still read")
    func stored() throws {
        let text = #"{"image":"http://cdn.test/a b","collapse_key":"two words","later":1}"#
        let options = try JSONCoder.decode(DeliveryOptions.self, from: Data(text.utf8))
        #expect(options == DeliveryOptions(image: "http://cdn.test/a b", collapseKey: "two words"))
    }
}
