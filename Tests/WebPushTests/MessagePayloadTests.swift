import FoundationEssentials
import Base
import Schemas
import Testing
import WebPushKeys

@testable import WebPush

/// What browsers get of a message.
@Suite("Payloads of messages")
struct MessagePayloadTests {
    private static func command(title: String, desc: String, message: String = "m") -> FanOutMessage {
        FanOutMessage(
            msiKey: ObjectID(), timestamp: 1_795_262_462_399,
            content: MessageContent(title: title, desc: desc, message: message, topicKey: .new(), distribution: .alert))
    }

    private static func texts(_ payload: JSONValue) -> (title: String, body: String) {
        (payload["notification"]?["title"]?.string ?? "", payload["notification"]?["body"]?.string ?? "")
    }

    @Test("It has Apple's declarative form, and what the app files the message by")
    func form() {
        let command = Self.command(title: "Campus closed", desc: "Stay at home")
        let key = JSONValue.string(command.msiKey.description)
        let notification: JSONValue = [
            "title": "Campus closed", "body": "Stay at home", "dir": "auto", "navigate": .string("#message/\(command.msiKey)"),
            "tag": key,
        ]
        let message: JSONValue = [
            "msi_key": key, "topic_key": .string(command.content.topicKey.description), "timestamp": 1_795_262_462_399,
            "distribution": "Alert",
        ]
        #expect(MessagePayload(command).json == ["web_push": 8_030, "notification": notification, "msi": message])
    }

    @Test(
        "The longest texts are shortened at a character, and fit with the longest address of an app",
        arguments: [
            "a", "ä", "漢", "👩‍🔬", "\"", "\u{1}", "e\u{301}",
        ])
    func longest(character: String) throws {
        func repeated(_ count: Int) -> String { String(repeating: character, count: count / character.unicodeScalars.count) }
        let command = Self.command(title: repeated(500), desc: repeated(500), message: repeated(1_500))
        let payload = MessagePayload(command).json
        let texts = Self.texts(payload)
        for (text, whole) in [(texts.title, command.content.title), (texts.body, command.content.desc)] where text != whole {
            #expect(text.isEmpty || text.hasSuffix("…") && whole.hasPrefix(text.dropLast()))
        }
        #expect(!texts.title.isEmpty)
        var template = PayloadTemplate(payload)
        let app = "https://hub.example.edu/" + String(repeating: "a", count: AppURL.maxLength - 24)
        #expect(AppURL.problem(with: app) == nil)
        let data = template.data(for: app)
        #expect(data.count <= PushEncryption.maxLength)
        let completed = try JSONValue(parsing: data)
        #expect(completed["notification"]?["navigate"]?.string == "\(app)#message/\(command.msiKey)")
    }

    @Test("Information without a text for its pop-up shows the beginning of the message")
    func withoutDescription() {
        let payload = MessagePayload(Self.command(title: "t", desc: " ", message: String(repeating: "ä", count: 1_500))).json
        #expect(Self.texts(payload).body.hasPrefix("ää"))
    }

    @Test("The time to live ends with the push, and is at most four weeks")
    func timeToLive() {
        func ttl(expires: Milliseconds?, ttl: Seconds? = nil) -> Seconds {
            let message = WebPushMessage(payload: [:], ttl: ttl, urgency: .high)
            return PushRequests.Headers(message, expires: expires.map { 1_000_000 + $0 }, now: 1_000_000).ttl
        }
        #expect(ttl(expires: nil) == maxTimeToLive && ttl(expires: .seconds(99_999_999)) == maxTimeToLive)
        #expect(ttl(expires: .seconds(60)) == 60 && ttl(expires: .seconds(60), ttl: 5) == 5 && ttl(expires: -5_000) == 0)
    }

    @Test("A command is read as it was written")
    func coding() throws {
        var command = Self.command(title: "t", desc: "d")
        #expect(try FanOutMessage(payload: command.payload()) == command)
        var content = command.content
        content.corrects = ObjectID()
        command = FanOutMessage(msiKey: ObjectID(), timestamp: 5, content: content, expires: 9)
        let read = try FanOutMessage(payload: command.payload())
        #expect(read == command && read.originalKey == content.corrects)
        let message = command.webPushMessage
        #expect(try WebPushMessage(message.json) == message)
    }
}
