import FCM
import FoundationEssentials
import Base
import Schemas
import Testing

@Suite("The target of a relayed message")
struct RelayTargetTests {
    private static let seed = """
        {"msi_key":"0123456789abcdef01234567","timestamp":1,"title":"T","desc":"D","message":"M",
         "topic_key":"\(DraftTests.topicKey)","distribution":"Alert"
        """

    private static func command(_ more: String) throws -> RelayMessage {
        try JSONCoder.decodeStrictly(from: Data((seed + more + "}").utf8))
    }

    private static func requests(_ message: RelayMessage) throws -> [SentRequest] {
        try message.components.map { try SentRequest($0, of: message, now: 1) }
    }

    @Test("A message goes to its topic, unless the command has a condition or a token")
    func targets() throws {
        let toTopic = try Self.command("")
        #expect(toTopic.target == .topic)
        for message in try Self.requests(toTopic).map(\.message) {
            #expect([message.topic, message.condition, message.token] == [DraftTests.topicKey, nil, nil])
        }
        let byCondition = try Self.command(#","condition":"'a' in topics""#)
        for message in try Self.requests(byCondition).map(\.message) {
            #expect([message.topic, message.condition, message.token] == [nil, "'a' in topics", nil])
        }
        let toPhone = try Self.command(#","token":"abc:def""#)
        for message in try Self.requests(toPhone).map(\.message) {
            #expect([message.topic, message.condition, message.token] == [nil, nil, "abc:def"])
            // The phone still assigns it to its subject.
            if message.notification == nil { #expect(message.data["topic_key"] == DraftTests.topicKey) }
        }
        for message in [toTopic, byCondition, toPhone] {
            #expect(try JSONCoder.decode(RelayMessage.self, from: JSONCoder.encode(message)) == message)
        }
    }

    @Test(
        "A wrong target is refused with the name of the field",
        arguments: [
            (#","condition":"c","token":"t""#, "token"), (#","token":"""#, "token"), (#","condition":" ""#, "condition"),
            (#","ttl":1.5"#, "ttl"), (#","expires":1e30"#, "expires"),
            (#","ttl":1000000000000000000000000000000"#, "ttl"), (#","token":null"#, "token"),
            (#","validate_only":"yes""#, "validate_only"), (#","project":"""#, "project"),
            (#","options":{"image":"https:///a.png"}"#, "options.image"),
        ])
    func wrong(more: String, field: String) {
        #expect(violation { try Self.command(more) }?.field == field)
    }

    @Test("validate_only is sent to FCM only if the command asks for it")
    func validateOnly() throws {
        let check = try Self.command(#","validate_only":true"#)
        #expect(try JSONCoder.decode(RelayMessage.self, from: JSONCoder.encode(check)) == check)
        #expect(try Self.requests(check).map(\.validateOnly) == [true, true])
        #expect(try Self.requests(Self.command("")).map(\.validateOnly) == [nil, nil])
    }

    @Test(
        "A request has the bytes that an encoder writes",
        arguments: ["", #","ttl":0"#, #","ttl":60"#, #","expires":90000"#, #","validate_only":true"#, #","token":"t""#]
            + [#","condition":"'a' in topics""#, #","options":{"image":"https://a.test","collapse_key":"k"}"#])
    func bytes(more: String) throws {
        var message = try Self.command(more)
        for distribution in Distribution.allCases {
            message = RelayMessage(
                msiKey: message.msiKey, timestamp: message.timestamp,
                content: MessageContent(
                    title: "\"T\\\n\u{1}/🎓", desc: "إغلاق", message: "\u{2028}<&>\u{7F}é\t", topicKey: message.content.topicKey,
                    distribution: distribution, ttl: message.content.ttl, options: message.content.options),
                expires: message.expires, target: message.target, validateOnly: message.validateOnly)
            for component in message.components {
                let sent = try SentRequest(component, of: message, now: 30_500).message
                #expect(component == .data ? sent.data["message"] == message.content.message : sent.notification?.body == "إغلاق")
            }
        }
    }

    @Test("A limit for topics does not apply to a single phone, and a picture counts towards it")
    func payload() throws {
        let limit = PayloadLimit(bytes: 2_048)
        let text = String(repeating: "m", count: 1_400)
        func message(_ target: RelayTarget, title: String = "t", image: String? = nil) throws -> RelayMessage {
            let key = try #require(TopicKey(DraftTests.topicKey))
            return RelayMessage(
                msiKey: ObjectID(), timestamp: 1,
                content: MessageContent(
                    title: title, desc: "d", message: text, topicKey: key, distribution: .alert,
                    options: DeliveryOptions(image: image)),
                target: target)
        }
        let title = String(repeating: "😀", count: 495)
        #expect(limit.violation(by: try message(.topic)) == nil)
        #expect(limit.violation(by: try message(.topic, title: title)) != nil)
        #expect(limit.violation(by: try message(.condition("c"), title: title)) != nil)
        #expect(limit.violation(by: try message(.token("t"), title: title)) == nil)
        let image = "https://cdn.test/" + String(repeating: "i", count: 900)
        let plain = FCMPayload(.notification, of: try message(.topic).content, at: 1).bytes
        let illustrated = FCMPayload(.notification, of: try message(.topic, image: image).content, at: 1).bytes
        #expect(illustrated == plain + "image".utf8.count + image.utf8.count)
    }
}
