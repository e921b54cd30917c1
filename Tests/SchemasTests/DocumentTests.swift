import FoundationEssentials
import Base
import Schemas
import Testing

/// The documents have exactly the fields of the seed's "Schema".
@Suite("Documents")
struct DocumentTests {
    private func object(_ value: some Encodable) throws -> String {
        String(decoding: try JSONCoder.encode(value), as: UTF8.self)
    }

    @Test("A channel has the seed's shape")
    func channel() throws {
        let key = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let channel = Channel(
            id: key.channel, name: "Campus", desc: "All of it",
            areas: [
                Area(
                    id: key.area, name: "Weather", desc: "",
                    subjects: [
                        Subject(
                            id: key.subject, name: "Storms", desc: "", topicKey: key,
                            opt: SubjectOptions(level: .forced, distribution: .alert))
                    ])
            ])
        #expect(
            try object(channel) == """
                {"_id":"\(key.channel)","access":[],"areas":[{"access":[],"desc":"","id":"\(key.area)","name":"Weather",\
                "subjects":[{"access":[],"desc":"","id":"\(key.subject)","name":"Storms",\
                "opt":{"distribution":"Alert","level":"Forced"},"tags":[],"topic_key":"\(key)"}]}],\
                "desc":"All of it","name":"Campus"}
                """)
    }

    @Test("A message has the seed's fields and its relay record, and is read back equal")
    func message() throws {
        let draft = try JSONCoder.decodeStrictly(MessageContent.self, from: DraftTests.message())
        let message = Message(
            msiKey: ObjectID(), content: draft, sender: "Communicator", timestamp: 1_763_712_000_123,
            names: CubeNames(channel: "Campus", area: "Weather", subject: "Storms"), expires: 1_766_131_200_123,
            idempotencyKey: "k",
            relay: RelayRecord(
                state: .retrying, attempts: 2, nextAttempt: 5, lease: Lease(owner: "o", until: 6),
                components: [
                    ComponentRecord(component: .notification, state: .accepted, name: "projects/p/messages/1", acceptedAt: 4),
                    ComponentRecord(
                        component: .data,
                        error: DeliveryError(class: .retryable, code: "UNAVAILABLE", message: "m", retryAfter: 7)),
                ]))
        let json = try JSONCoder.encode(message)
        #expect(try JSONCoder.decode(Message.self, from: json) == message)
        let text = String(decoding: json, as: UTF8.self)
        for field in ["_id", "msi_key", "title", "desc", "message", "topic_key", "distribution", "sender", "timestamp"] {
            #expect(text.contains("\"\(field)\":"), "\(field)")
        }
        #expect(text.contains("\"timestamp\":1763712000123"))
    }

    @Test("A stored document with a field of a later version is still read")
    func laterVersion() throws {
        let json = #"{"_id":"5a0b0c0d5a0b0c0d5a0b0c0d","name":"N","desc":"","access":[],"areas":[],"colour":"red"}"#
        #expect(try JSONCoder.decode(Channel.self, from: Data(json.utf8)).name == "N")
    }
}
