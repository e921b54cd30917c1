import FoundationEssentials
import SeededRandom
import Testing

@testable import Schemas

/// The quick way to read and write `message.relay` agrees with ``SchemaJSON``, which it stands in for.
@Suite("Payloads of message.relay")
struct RelayPayloadTests {
    private static let key = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private static func messages(_ text: String) -> [RelayMessage] {
        [Distribution.alert, .information].flatMap { distribution in
            [(nil, nil), (0, 1), (2_419_200, maximumUnixMilliseconds)].flatMap { (ttl: Int64?, expires: UnixMilliseconds?) in
                [nil, distribution.components.suffix(1), distribution.components.reversed()].flatMap { components in
                    [nil, DeliveryOptions(collapseKey: "k")].map { options in
                        RelayMessage(
                            msiKey: ObjectID(), timestamp: 1_763_712_000_123,
                            draft: MessageDraft(
                                title: text, desc: text, message: text, topicKey: key, distribution: distribution, ttl: ttl,
                                options: options),
                            expires: expires, components: components)
                    }
                }
            }
        }
    }

    @Test("a command is written to the byte as others are, and read back equal", arguments: PlainJSONTests.texts)
    func commands(text: String) throws {
        for message in Self.messages(text) {
            let payload = try message.payload()
            #expect(payload == (try SchemaJSON.encode(message)))
            compare(payload)
        }
        let odd = RelayMessage(
            msiKey: ObjectID(), timestamp: 0,
            draft: MessageDraft(title: "t", desc: "d", message: "m", topicKey: Self.key, distribution: .alert),
            target: .token(text), validateOnly: true, project: "p")
        #expect(try odd.payload() == SchemaJSON.encode(odd))
    }

    private static let plain =
        #"{"msi_key":"0123456789abcdefABCDEF01","title":"Storm","desc":"Closed","message":"Stay home","#
        + #""topic_key":"\#(key)","distribution":"Alert","timestamp":1763712000123,"ttl":3600,"expires":1763712000999,"#
        + #""components":["notification","data"]}"#

    @Test("every change of a byte of a command is read alike, or refused with the same words")
    func damagedCommands() {
        var random = SeededGenerator(seed: 11)
        let original = Array(Self.plain.utf8)
        compare(Data(original))
        for _ in 0..<6_000 { compare(Self.damaged(original, &random)) }
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
    ]

    @Test("a rule that is broken is named with the same words", arguments: rulesBroken)
    func rules(old: String, new: String) {
        compare(Data(Self.plain.replacing(old, with: new, maxReplacements: 1).utf8))
    }

    @Test("bytes that are no UTF-8 are refused")
    func encoding() {
        for bytes in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]] {
            let halves = Self.plain.split(separator: "Storm")
            compare(Data(Array(halves[0].utf8) + bytes + Array(halves[1].utf8)))
        }
    }

    @Test("a reply is written to the byte as others are, and read back equal", arguments: PlainJSONTests.texts)
    func replies(text: String) throws {
        let accepted = ComponentOutcome(component: .notification, result: .success(text))
        let failed = ComponentOutcome(
            component: .data,
            result: .failure(ComponentError(class: .retryable, code: text, message: text, retryAfter: 60_000)))
        for components in [[], [accepted], [accepted, failed], [failed], [accepted, accepted]] {
            let reply = RelayMessage.Reply(components: components)
            let payload = try RelayMessage.payload(of: reply)
            #expect(payload == (try SchemaJSON.encode(reply)))
            #expect(try RelayMessage.reply(payload: payload) == reply)
        }
    }

    @Test("every change of a byte of a reply is read alike, or refused with the same words")
    func damagedReplies() {
        var random = SeededGenerator(seed: 13)
        let original = Array(
            #"{"components":[{"component":"notification","name":"projects/p/messages/1"},{"component":"data","name":"n"}]}"#.utf8)
        for _ in 0..<6_000 {
            let payload = Self.damaged(original, &random)
            let (quick, slow) = (
                Result { try RelayMessage.reply(payload: payload) },
                Result { try SchemaJSON.decode(RelayMessage.Reply.self, from: payload) }
            )
            #expect("\(quick)" == "\(slow)", "\(String(decoding: payload, as: UTF8.self))")
        }
    }

    private static func damaged(_ original: [UInt8], _ random: inout SeededGenerator) -> Data {
        var json = original
        let position = Int.random(in: 0..<json.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: json[position] = UInt8.random(in: 0...255, using: &random)
        case 1: json.remove(at: position)
        default: json.insert(original[Int.random(in: 0..<original.count, using: &random)], at: position)
        }
        return Data(json)
    }

    private func compare(_ payload: Data) {
        let quick = Result { try RelayMessage(payload: payload) }
        let slow = Result { try SchemaJSON.decode(RelayMessage.self, from: payload) }
        #expect("\(quick)" == "\(slow)", "\(String(decoding: payload, as: UTF8.self))")
    }
}
