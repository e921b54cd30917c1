import Bus
import Schemas
import TestSupport
import Testing

@Suite("Bad input about messages, statuses and pictures", .timeLimit(.minutes(10)))
struct MessagingBadInputTests {
    private static let id = "5a0b0c0d5a0b0c0d5a0b0c0d"
    private static let long = String(repeating: "a", count: 2_001)
    private static let device = #""device":"\#(id)""#

    private static let requests: [(command: String, payload: String, field: String)] = [
        ("direct_message.send", "{}", "draft"),
        ("direct_message.send", #"{"draft":{"text":"a"}}"#, "draft.to"),
        ("direct_message.send", #"{"draft":{"to":"a b","text":"a"}}"#, "draft.to"),
        ("direct_message.send", #"{"draft":{"to":"bob"}}"#, "draft.text"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":""}}"#, "draft.text"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":" \n"}}"#, "draft.text"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":"\#(long)"}}"#, "draft.text"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":"a\u0000b"}}"#, "draft.text"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":"secret","picture":"\#(id)"}}"#, "draft.text"),
        ("direct_message.send", #"{"draft":{"to":"bob","picture":"secret.png"}}"#, "draft.picture"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":"secret","from":"eve"}}"#, "draft.from"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":"secret"},"request_key":""}"#, "request_key"),
        ("direct_message.send", #"{"draft":{"to":"bob","text":"secret"},"classmate":"yes"}"#, "classmate"),
        ("direct_message.news", #"{\#(device),"after":0}"#, "limit"),
        ("direct_message.news", #"{\#(device),"after":-1,"limit":1}"#, "after"),
        ("direct_message.news", #"{\#(device),"after":0,"limit":0}"#, "limit"),
        ("direct_message.news", #"{\#(device),"after":0,"limit":201}"#, "limit"),
        ("direct_message.news", #"{\#(device),"after":0,"limit":1,"prompt":"1"}"#, "prompt"),
        ("direct_message.news", #"{"device":"x","after":0,"limit":1}"#, "device"),
        ("direct_message.received", #"{\#(device),"after":-1}"#, "after"),
        ("direct_message.received", #"{"after":1}"#, "device"),
        ("direct_message.read", #"{"message":""}"#, "message"),
        ("direct_message.list", #"{"account":"","limit":1}"#, "account"),
        ("direct_message.list", #"{"account":"bob","limit":201}"#, "limit"),
        ("direct_message.list", #"{"account":"bob","limit":1,"before":-1}"#, "before"),
        ("messaging.get", #"{"account":"eve"}"#, "account"),
        ("messaging.choose", #"{"choices":{}}"#, "choices.read_marks"),
        ("status.set", #"{"draft":{}}"#, "draft.text"),
        ("status.set", #"{"draft":{"text":"\#(long)"}}"#, "draft.text"),
        ("status.list", "{}", "device"),
        ("status.seen", #"{"seen":{"statuses":[]}}"#, "seen.statuses"),
        ("picture.profile", #"{"picture":"x"}"#, "picture"),
        ("picture.read", #"{"of":"account","id":"x"}"#, "of"),
        ("message_report.add", #"{"draft":{"message":"\#(id)","account":"bob"}}"#, "draft.text"),
        ("message_report.list", #"{"open":true,"limit":0}"#, "limit"),
        ("message_report.list", #"{"open":true,"limit":1,"after":"x"}"#, "after"),
        ("message_report.get", "{}", "id"),
    ]

    @Test("An error names the field, and contains no text of a message; the service stays well")
    func fields() async throws {
        try await RunningMessaging.with { messaging in
            let context = messaging.person("ann").context
            for (command, payload, field) in Self.requests {
                let failure = try #require(await messaging.client.failure(of: command, payload, context: context))
                #expect(failure.status == .invalid && failure.field == field, "\(command) \(payload): \(failure)")
                #expect(!failure.message.contains("secret"), "\(failure)")
            }
            #expect(!messaging.log.has("secret"))
            try await messaging.person("ann").send("hi", to: "bob")
        }
    }

    @Test("Each command of a person needs one")
    func actor() async throws {
        try await RunningMessaging.with { messaging in
            let device = Self.device
            let requests: [(command: String, payload: String)] = [
                ("direct_message.send", #"{"draft":{"to":"bob","text":"a"}}"#),
                ("direct_message.news", #"{\#(device),"after":0,"limit":1}"#),
                ("direct_message.received", #"{\#(device),"after":0}"#),
                ("direct_message.read", #"{"message":"\#(Self.id)"}"#),
                ("direct_message.list", #"{"account":"bob","limit":1}"#), ("messaging.get", "{}"),
                ("messaging.choose", #"{"choices":{"read_marks":true}}"#), ("status.set", #"{"draft":{"text":"a"}}"#),
                ("status.list", "{\(device)}"), ("status.own", "{}"), ("status.remove", "{}"),
                ("status.seen", #"{"seen":{"statuses":["\#(Self.id)"]}}"#), ("picture.profile", "{}"),
                ("picture.read", #"{"of":"message","id":"\#(Self.id)"}"#), ("picture.read", #"{"of":"profile","id":"ann"}"#),
                ("message_report.add", #"{"draft":{"message":"\#(Self.id)","account":"bob","text":"a"}}"#),
            ]
            for (command, payload) in requests {
                let nobody = await messaging.client.failure(of: command, payload)
                #expect(nobody?.status == .unauthenticated, "\(command): \(String(describing: nobody))")
                let unnamed = await messaging.client.failure(of: command, payload, context: CallerContext(actor: "a b"))
                #expect(unnamed?.status == .unauthenticated, "\(command): \(String(describing: unnamed))")
            }
        }
    }

    @Test("The longest text of any characters is taken, and comes back as it was")
    func edges() async throws {
        try await RunningMessaging.with { messaging in
            let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
            let texts = [
                String(repeating: "é", count: 2_000), String(repeating: "🙂", count: 2_000), "a\nb\tc \"\\ </script> \u{2028}",
                "مرحبا، هل ستأتي؟",
            ]
            for text in texts { #expect(try await ann.send(text, to: "bob").text == text) }
            #expect(try await bob.news().messages.compactMap(\.text) == texts)
            for missing in ["000000000000000000000000", "ffffffffffffffffffffffff"].compactMap({ ObjectID($0) }) {
                try await ann.request(MarkMessagesRead(upTo: missing))
            }
        }
    }
}
