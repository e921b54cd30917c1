import Bus
import Schemas
import TestSupport
import Testing

@Suite("Message log, bad input", .timeLimit(.minutes(10)))
struct MessageLogBadInputTests {
    @Test("Hundreds of bad requests are refused, and leave nothing behind")
    func badRequests() async throws {
        try await RunningMessageLog.with { log in
            let known = try await log.log(.sample())
            let count = try await checkBadRequests(
                to: log.process, at: log.endpoint, seed: 20_261_122, Self.commands(known.msiKey))
            #expect(count >= 2 * 100)

            let added = try await log.log(.sample("after"))
            let page = try await log.client.request(ListMessages(limit: 200))
            #expect(page.messages.contains { $0.id == added.id } && page.messages.contains { $0.id == known.id })
        }
    }

    private static func commands(_ msiKey: ObjectID) -> [SampleCommand] {
        let draft =
            #"{"title":"\#(BadBusRequests.secret)","desc":"d","message":"m","topic_key":"\#(TopicKey.sample)","#
            + #""distribution":"Alert"}"#
        let key = SampleDocument.Field("idempotency_key", "\"\(BadBusRequests.secret)\"")
        let log = SampleCommand(
            "message.log",
            SampleDocument([
                .init("msi_key", "\"\(ObjectID())\""), .init("draft", draft), .init("timestamp", "1763712000123"),
                .init("names", #"{"channel":"c","area":"a","subject":"s"}"#), .init("expires", "253402300799999"),
            ]))
        let push = SampleCommand(
            "push.log",
            SampleDocument([
                key, .init("topic", "\"news\""), .init("fairness_key", "\"f\""), .init("expires", "253402300799999"),
                .init("message", #"{"data":{"a":"\#(BadBusRequests.secret)"},"android":{"ttl":"60s"}}"#),
                .init("not_before", "253402300799998", isOptional: true),
            ]))
        return [
            log, log, log, push, push,
            SampleCommand("push.get", SampleDocument([.init("push_id", "\"\(msiKey)\"")])),
            SampleCommand(
                "push.list",
                SampleDocument([
                    .init("sender", "\"webpush\""), .init("key_prefix", "\"\(msiKey)/\""), .init("limit", "5"),
                    .init("after", "\"\(msiKey)/0/h\"", isOptional: true),
                ])),
            SampleCommand("message.get", SampleDocument([.init("msi_key", "\"\(msiKey)\"")])),
            SampleCommand("message.find", SampleDocument([key])),
            SampleCommand(
                "message.list",
                SampleDocument([.init("before", "\"1763712000123-\(msiKey)\"", isOptional: true), .init("limit", "5")])),
        ]
    }
}
