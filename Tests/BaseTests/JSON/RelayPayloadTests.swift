import FoundationEssentials
import Base
import Testing

@testable import Schemas

/// The fast path for `message.relay` agrees with ``JSONCoder``, which it replaces.
@Suite("Payloads of message.relay")
struct RelayPayloadTests {
    private static let key = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private static func messages(_ text: String) -> [RelayMessage] {
        [Distribution.alert, .information].flatMap { distribution in
            [(nil, nil), (0, 1), (2_419_200, maximumUnixMilliseconds)].flatMap { (ttl: Seconds?, expires: UnixMilliseconds?) in
                [nil, distribution.components.suffix(1), distribution.components.reversed()].flatMap { components in
                    [nil, DeliveryOptions(collapseKey: "k")].map { options in
                        RelayMessage(
                            msiKey: ObjectID(), timestamp: 1_763_712_000_123,
                            content: MessageContent(
                                title: text, desc: text, message: text, topicKey: key, distribution: distribution, ttl: ttl,
                                options: options),
                            expires: expires, components: components)
                    }
                }
            }
        }
    }

    @Test("A command is written with the same bytes as by the JSON coder, and read back equal", arguments: PlainJSONTests.texts)
    func commands(text: String) throws {
        for message in Self.messages(text) {
            let payload = try message.payload()
            #expect(payload == (try JSONCoder.encode(message)))
            compare(payload)
        }
        let odd = RelayMessage(
            msiKey: ObjectID(), timestamp: 0,
            content: MessageContent(title: "t", desc: "d", message: "m", topicKey: Self.key, distribution: .alert),
            target: .token(text), validateOnly: true, project: "p")
        #expect(try odd.payload() == JSONCoder.encode(odd))
    }

    private static let plain =
        #"{"msi_key":"0123456789abcdefABCDEF01","title":"Storm","desc":"Closed","message":"Stay home","#
        + #""topic_key":"\#(key)","distribution":"Alert","timestamp":1763712000123,"ttl":3600,"expires":1763712000999,"#
        + #""components":["notification","data"]}"#

    @Test("Every command with a changed byte is read alike, or refused with the same error")
    func damagedCommands() {
        var random = SeededGenerator(seed: 11)
        let original = Array(Self.plain.utf8)
        compare(Data(original))
        for _ in 0..<6_000 { compare(PlainJSONTests.damaged(original, &random)) }
    }

    @Test("A name without a colon is not a field, whatever follows it")
    func namesWithoutColons() {
        for name in ["title", "desc", "message", "ttl", "components"] {
            compare(Data(Self.plain.replacing("\"\(name)\":", with: "\"\(name)\" ").utf8))
            compare(Data(Self.plain.replacing("{\"msi_key\"", with: "{\"\(name)\" \"msi_key\"").utf8))
        }
    }

    static let rulesBroken = [
        (#""Storm""#, #"" ""#), (#""Storm""#, "\"\(String(repeating: "x", count: 501))\""), (#""Closed""#, #""\n ""#),
        (#""Closed""#, #""""#), (#""Stay home""#, "\"\(String(repeating: "ä", count: 1_500))\""),
        (#""Stay home""#, "\"\(String(repeating: "ä", count: 1_501))\""), ("1763712000123", "253402300800000"),
        ("1763712000123", "-1"), ("1763712000123", "1.5"), ("1763712000123", "1e3"), ("3600", "2419201"), ("3600", "null"),
        ("1763712000999", "01"), (#""data""#, #""notification""#), (#""notification","data""#, ""),
        (#""Alert""#, #""Information""#),
        (#""Alert""#, #""alert""#), (#""ttl""#, #""tll""#), (#""ttl""#, #""desc""#), (#""ttl""#, #""t\u0074l""#), ("}", "} x"),
        (#""Storm""#, "\"\u{0}\""), (#""Storm""#, #""\u0041""#), ("{", "{,"), ("]", ",]"),
        ("3600", "-0"), ("}", "}\u{0}"), (#""ttl""#, "\"ttl\u{301}\""), (#""Storm""#, #""\u0000""#),
    ]

    @Test("A broken rule is the same error", arguments: rulesBroken)
    func rules(old: String, new: String) {
        compare(Data(Self.plain.replacing(old, with: new, maxReplacements: 1).utf8))
    }

    @Test("An Alert without a text for its notification is refused")
    func blankAlert() {
        let violation = #expect(throws: SchemaViolation.self) {
            try RelayMessage(payload: Data(Self.plain.replacing("Closed", with: " ").utf8))
        }
        #expect(violation?.field == "desc")
    }

    @Test("Invalid UTF-8 is refused")
    func encoding() {
        for bytes in PlainJSONTests.noUTF8 {
            let halves = Self.plain.split(separator: "Storm")
            compare(Data(Array(halves[0].utf8) + bytes + Array(halves[1].utf8)))
        }
    }

    @Test("A reply is written with the same bytes as by the JSON coder, and read back equal", arguments: PlainJSONTests.texts)
    func replies(text: String) throws {
        let accepted = ComponentOutcome(component: .notification, result: .success(text))
        let failed = ComponentOutcome(
            component: .data,
            result: .failure(DeliveryError(class: .retryable, code: text, message: text, retryAfter: 60_000)))
        for components in [[], [accepted], [accepted, failed], [failed], [accepted, accepted]] {
            let reply = RelayMessage.Reply(components: components)
            let payload = try RelayMessage.payload(of: reply)
            #expect(payload == (try JSONCoder.encode(reply)))
            #expect(try RelayMessage.reply(payload: payload) == reply)
        }
    }

    @Test("Every reply with a changed byte is read alike, or refused with the same error")
    func damagedReplies() {
        var random = SeededGenerator(seed: 13)
        let original = Array(
            #"{"components":[{"component":"notification","name":"projects/p/messages/1"},{"component":"data","name":"n"}]}"#.utf8)
        for _ in 0..<6_000 {
            let payload = PlainJSONTests.damaged(original, &random)
            expectSame(payload, { try RelayMessage.reply(payload: payload) }, { try JSONCoder.decode(from: payload) })
        }
    }

    private func compare(_ payload: Data) {
        expectSame(payload, { try RelayMessage(payload: payload) }, { try JSONCoder.decodeStrictly(from: payload) })
    }

}

/// Expects the same value, or the same error, of a fast path and of the JSON coder.
func expectSame<Value: Equatable>(_ payload: Data, _ quick: () throws -> Value, _ usual: () throws -> Value) {
    let found = Result { try quick() }.mapError { "\($0)" as TextError }
    let expected = Result { try usual() }.mapError { "\($0)" as TextError }
    #expect(found == expected, "\(String(decoding: payload, as: UTF8.self))")
}

/// The text of an error.
private struct TextError: Error, Equatable, ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral text: String) { self.text = text }
}
