import FoundationEssentials
import Base
import Testing

@testable import Schemas

/// The fast paths for the payloads of other frequent commands agree with ``JSONCoder``, which they replace.
@Suite("Payloads of frequent commands")
struct FastPayloadTests {
    private static let key = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private static func message(_ text: String, _ change: (inout MessageContent) -> Void = { _ in }) -> LogMessage {
        var content = MessageContent(title: text, desc: text, message: text, topicKey: key, distribution: .alert, ttl: 60)
        change(&content)
        return LogMessage(
            msiKey: ObjectID(), content: content, timestamp: 1_763_712_000_123,
            names: CubeNames(channel: text, area: text, subject: text), expires: 1_763_712_060_123, idempotencyKey: text)
    }

    private func compareLog(_ payload: Data) {
        expectSame(
            payload, { try JSONCoder.encode(LogMessage(payload: payload)) },
            { try JSONCoder.encode(JSONCoder.decodeStrictly(LogMessage.self, from: payload)) })
    }

    @Test("message.log is written with the same bytes as by the JSON coder, and read alike", arguments: PlainJSONTests.texts)
    func messages(text: String) throws {
        let changes: [(inout MessageContent) -> Void] = [
            { _ in }, { $0.ttl = nil }, { $0.distribution = .information }, { $0.sendAt = 5 },
            { $0.options = .init(collapseKey: "k") }, { $0.delay = 5 }, { $0.drill = true }, { $0.follows = ObjectID() },
            { ($0.follows, $0.correction) = (ObjectID(), true) }, { $0.values = ["a": "b"] },
        ]
        for command in changes.map({ Self.message(text, $0) }) {
            let payload = try command.payload()
            #expect(payload == (try JSONCoder.encode(command)))
            compareLog(payload)
        }
    }

    @Test("Every message.log with a changed byte is read alike, or refused with the same error")
    func damagedMessages() throws {
        var random = SeededGenerator(seed: 17)
        let original = Array(try Self.message("Storm").payload())
        compareLog(Data(original))
        for _ in 0..<6_000 { compareLog(PlainJSONTests.damaged(original, &random)) }
    }

    @Test("The reply to a new message is empty")
    func reply() throws {
        let new = LogMessage.Reply(known: nil)
        #expect(try LogMessage.payload(of: new) == JSONCoder.encode(new))
        for json in ["{}", "{ }", #"{"known":null}"#, #"{"later":1}"#] {
            #expect(try LogMessage.reply(payload: Data(json.utf8)) == new)
        }
    }

    /// The entries of `audit.add` as the JSON coder reads them.
    private struct Entries: Codable, Checked, Equatable {
        let entries: [AuditEntry]

        enum CodingKeys: String, CodingKey, CaseIterable {
            case entries
        }

        func check() throws(SchemaViolation) {
            try (1...AddAuditEntries.maxEntries).check(entries.count, CodingKeys.entries)
        }
    }

    @Test("Every audit.add with a changed byte is read alike, or refused with the same error")
    func damagedEntries() throws {
        var random = SeededGenerator(seed: 19)
        let entry = AuditEntry(
            by: AuditAuthor(actor: "ann", address: "192.0.2.7"), action: "a.b", object: AuditObject(kind: "k", id: "i"),
            before: ["a": [1, -2.5, true, false, [], [:]], "b": "\"é\"\n"], after: ["sha256": ["desc": "00", "title": "11"]])
        let original = Array(try AddAuditEntries(entries: [entry, entry]).payload())
        for payload in [Data(original)] + (0..<6_000).map({ _ in PlainJSONTests.damaged(original, &random) }) {
            expectSame(
                payload,
                {
                    Entries(
                        entries: try AddAuditEntries(payload: payload).entries.map { written in
                            let entry = try JSONCoder.decodeStrictly(AuditEntry.self, from: Data(written.json.utf8))
                            #expect(WrittenAuditEntry(entry, json: written.json) == written)
                            return entry
                        })
                }, { try JSONCoder.decodeStrictly(Entries.self, from: payload) })
        }
    }

    @Test("Every reply of push.relay with a changed byte is read alike, or refused with the same error")
    func damagedResults() throws {
        var random = SeededGenerator(seed: 23)
        let reply = RelayPush.Reply(results: [
            SendResult(.success("projects/p/messages/1")), SendResult(.failure(DeliveryError(.paced, retryAfter: 5))),
        ])
        let original = Array(try RelayPush.payload(of: reply))
        for payload in [Data(original)] + (0..<6_000).map({ _ in PlainJSONTests.damaged(original, &random) }) {
            expectSame(payload, { try RelayPush.reply(payload: payload) }, { try JSONCoder.decode(from: payload) })
        }
    }
}
