import FCM
import FoundationEssentials
import Base
import Schemas
import Testing

/// The seed's "FCM Mapping" in the form of HTTP v1, field by field.
@Suite("FCM mapping")
struct FCMMappingTests {
    private static let title = #"Say "storm" \ 🌩️"#
    private static let desc = "ابق في المنزل"
    private static let text = "Line one\nline two: 100 % <b>&amp;</b> 🧑🏽‍🎓"

    private static func relayed(_ distribution: Distribution, expires: UnixMilliseconds? = nil) throws -> RelayMessage {
        let key = try #require(TopicKey(DraftTests.topicKey))
        return RelayMessage(
            msiKey: try #require(ObjectID("0123456789abcdef01234567")), timestamp: 1_763_712_000_123,
            content: MessageContent(title: title, desc: desc, message: text, topicKey: key, distribution: distribution),
            expires: expires)
    }

    @Test("An Alert has a notification component and a data component, and Information has a data component")
    func components() {
        #expect(Distribution.alert.components == [.notification, .data])
        #expect(Distribution.information.components == [.data])
    }

    @Test("The notification component has the seed's fields")
    func notification() throws {
        let message = try FCMMessage(.notification, of: Self.relayed(.alert), now: 1_763_712_000_500)
        #expect(message.topic == DraftTests.topicKey)
        #expect(message.notification?.title == Self.title)
        #expect(message.notification?.body == Self.desc)
        #expect(message.data == ["msi_key": "0123456789abcdef01234567"])
        #expect(message.android.priority == "HIGH")
        #expect(message.android.notification?.sound == "default")
        // A second copy replaces the first one's pop-up.
        #expect(message.android.notification?.tag == "0123456789abcdef01234567")
        #expect(message.apns.headers["apns-collapse-id"] == "0123456789abcdef01234567")
        #expect(message.apns.headers["apns-priority"] == "10")
        #expect(message.apns.payload.aps.sound == "default")
        #expect(message.apns.payload.aps.contentAvailable == nil)
    }

    @Test("The data component has all seven fields, each a string", arguments: Distribution.allCases)
    func data(distribution: Distribution) throws {
        let message = try FCMMessage(.data, of: Self.relayed(distribution), now: 1_763_712_000_500)
        #expect(message.topic == DraftTests.topicKey)
        #expect(message.notification == nil)
        #expect(
            message.data == [
                "msi_key": "0123456789abcdef01234567",
                "topic_key": DraftTests.topicKey,
                "dist": distribution.rawValue,
                "title": Self.title,
                "desc": Self.desc,
                "message": Self.text,
                "timestamp": "1763712000123",
            ])
        #expect(message.android.priority == "HIGH")
        #expect(message.android.notification == nil)
        // APNs accepts a silent message only at priority 5.
        #expect(message.apns.headers["apns-priority"] == "5")
        #expect(message.apns.payload.aps.contentAvailable == 1)
    }

    @Test("A correction has the pop-up's name of the message that it corrects, and names it in its data")
    func correction() throws {
        let first = ObjectID()
        var draft = try Self.relayed(.alert).content
        (draft.follows, draft.correction) = (first, true)
        let message = RelayMessage(msiKey: ObjectID(), timestamp: 1, content: draft)
        let decoded = try RelayMessage(payload: message.payload())
        #expect(decoded == message && decoded.content.corrects == first)
        let popup = try FCMMessage(.notification, of: message, now: 0)
        #expect(popup.android.notification?.tag == first.description)
        #expect(popup.apns.headers["apns-collapse-id"] == first.description)
        #expect(popup.data == ["msi_key": message.msiKey.description])
        #expect(try FCMMessage(.data, of: message, now: 0).data["corrects"] == first.description)
        for component in Component.allCases {
            let sent = try FCMMessage(component, of: message, now: 0)
            #expect(FCMPayload(component, of: draft, at: message.timestamp).bytes == sent.sentBytes)
        }
        // A follow-up has its own pop-up.
        draft.correction = nil
        let followUp = RelayMessage(msiKey: message.msiKey, timestamp: 1, content: draft)
        #expect(try FCMMessage(.notification, of: followUp, now: 0).android.notification?.tag == message.msiKey.description)
        #expect(try FCMMessage(.data, of: followUp, now: 0).data["corrects"] == nil)
    }

    @Test("A link is in the data alone")
    func link() throws {
        for distribution in [Distribution.alert, .information] {
            var draft = try Self.relayed(distribution).content
            let plain = RelayMessage(msiKey: ObjectID(), timestamp: 1, content: draft)
            draft.options = DeliveryOptions(link: "https://campus.test/plan")
            let linked = RelayMessage(msiKey: plain.msiKey, timestamp: 1, content: draft)
            #expect(try RelayMessage(payload: linked.payload()) == linked)
            for component in distribution.components {
                #expect(try FCMMessage(component, of: plain, now: 0).data["link"] == nil)
                let expected = component == .data ? "https://campus.test/plan" : nil
                #expect(try FCMMessage(component, of: linked, now: 0).data["link"] == expected)
            }
        }
    }

    @Test("The time to live for FCM ends when the message expires, after four weeks at most")
    func timeToLive() throws {
        let now: UnixMilliseconds = 1_763_712_000_500
        func ttl(_ expires: UnixMilliseconds?, _ distribution: Distribution = .alert) throws -> String {
            try FCMMessage(.data, of: Self.relayed(distribution, expires: expires), now: now).android.ttl
        }
        #expect(try ttl(nil, .information) == "2419200s")
        // A phone that was off for weeks shows no old alert.
        #expect(try ttl(nil) == "86400s")
        #expect(try ttl(now + 60_999) == "60s")
        #expect(try ttl(now - 1) == "0s")
        #expect(try ttl(.max) == "2419200s")
        let message = try FCMMessage(.data, of: Self.relayed(.alert, expires: now + 60_000), now: now)
        #expect(message.apns.headers["apns-expiration"] == "1763712060")
    }

    @Test("Only Information has the priority that the operator sets")
    func priority() throws {
        var defaults = FCMDefaults()
        defaults.informationPriority = .normal
        defaults.alertTimeToLive = 3_600
        let now: UnixMilliseconds = 1_763_712_000_500
        for (distribution, priority) in [(Distribution.alert, "HIGH"), (.information, "NORMAL")] {
            for component in distribution.components {
                let relayed = try Self.relayed(distribution)
                let message = try FCMMessage(component, of: relayed, now: now, defaults: defaults)
                #expect(message.android.priority == priority)
                #expect(message.android.ttl == (distribution == .alert ? "3600s" : "2419200s"))
                // APNs takes a background push with priority 5 only, and shows a pop-up at once with 10.
                #expect(message.apns.headers["apns-priority"] == (component == .data ? "5" : "10"))
            }
        }
    }

    @Test(
        "The payload size counts the bytes of the keys and values that are sent",
        arguments: [nil, DeliveryOptions(image: "https://cdn.test/ä.png"), DeliveryOptions(link: "tel:112", collapseKey: "k")])
    func measured(options: DeliveryOptions?) throws {
        let key = try #require(TopicKey(DraftTests.topicKey))
        let message = RelayMessage(
            msiKey: ObjectID(), timestamp: 1_763_712_000_123,
            content: MessageContent(
                title: Self.title, desc: Self.desc, message: Self.text, topicKey: key, distribution: .alert, options: options))
        for component in Component.allCases {
            let sent = try FCMMessage(component, of: message, now: 0)
            #expect(FCMPayload(component, of: message.content, at: message.timestamp).bytes == sent.sentBytes)
        }
    }

    @Test("A relay command is the seed's input; its components may be left out, and unknown ones are refused")
    func command() throws {
        let command = try Self.relayed(.alert)
        #expect(try JSONCoder.decode(RelayMessage.self, from: JSONCoder.encode(command)) == command)

        let seed = Data(
            #"""
            {"msi_key":"0123456789abcdef01234567","timestamp":1,"title":"T","desc":"","message":"M",
             "topic_key":"\#(DraftTests.topicKey)","distribution":"Information"}
            """#.utf8)
        #expect(try JSONCoder.decodeStrictly(RelayMessage.self, from: seed).components == [.data])

        let wrong = Data(
            #"""
            {"msi_key":"0123456789abcdef01234567","timestamp":1,"title":"T","desc":"","message":"M",
             "topic_key":"\#(DraftTests.topicKey)","distribution":"Information","components":["notification"]}
            """#.utf8)
        #expect(throws: SchemaViolation.self) { try JSONCoder.decodeStrictly(RelayMessage.self, from: wrong) }
    }
}
