import FoundationEssentials
import Base
import Schemas

/// The benchmark's command and its frames: `message.relay`, the product's most frequent one.
enum BusSample {
    /// The same frames as ``relay``'s, which the server does not decode.
    static let bytesCommand = "benchmark.raw"

    static let relay = RelayMessage(
        msiKey: ObjectID(), timestamp: .now,
        content: MessageContent(
            title: "Campus closed", desc: "Please stay at home",
            message: "All lectures of today are cancelled because of the storm. "
                + "The library and the canteen stay closed until tomorrow at noon.",
            topicKey: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()), distribution: .alert),
        expires: .now + 2_419_200_000)

    static let reply = RelayMessage.Reply(
        components: relay.components.map { component in
            ComponentOutcome(
                component: component, result: .success("projects/campus/messages/0:1795262462412009%b611fad549928558"))
        })

    /// The four frames of a round trip as text: the request's header and payload, and the reply's.
    static func frames() throws -> [String] {
        let id = "7f3a91000000001"
        let header = RequestHeader(id: id, command: bytesCommand, timeout: 5_000, deadline: .now)
        return try [
            JSONCoder.encode(header), JSONCoder.encode(relay), JSONCoder.encode(ReplyHeader(id: id, status: .ok)),
            JSONCoder.encode(reply),
        ].map { String(decoding: $0, as: UTF8.self) }
    }
}
