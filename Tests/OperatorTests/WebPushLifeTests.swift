import Base
import Schemas
import Testing

@testable import Operator

/// What `msi trace` and `msi send` say about pushes to browsers.
@Suite("Lives with Web Push")
struct WebPushLifeTests {
    private static let time = UnixMilliseconds(rawValue: 1_763_712_000_000)
    private static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private func alert(by transports: PushTransports) -> Message {
        Message(
            msiKey: ObjectID(),
            content: MessageContent(title: "T", desc: "d", message: "m", topicKey: Self.topic, distribution: .alert),
            sender: "ann", timestamp: Self.time, names: CubeNames(channel: "C", area: "A", subject: "S"),
            expires: Self.time + 86_400_000,
            relay: RelayRecord(logged: .alert, by: transports, due: Self.time, expires: Self.time + 86_400_000))
    }

    private func lines(of life: ItemLife, after time: Milliseconds = 1_000) -> [String] {
        let text = LifeText(life: life, key: .item(ObjectID()), isArchiveKnown: true, isLogKnown: true, now: Self.time + time)
        return text.description.split(separator: "\n").map(String.init)
    }

    @Test("A message's pushes to browsers have a line with their number, and both transports have their next attempt")
    func component() throws {
        var message = alert(by: [.fcm, .webpush])
        message.relay.nextAttempt = Self.time + 60_000
        message.relay.webpushAttempt = Self.time + 30_000
        message.relay.lease = Lease(owner: "o", until: Self.time + 30_000)
        let waiting = lines(of: ItemLife(message: message))
        #expect(waiting.contains { $0.contains("next attempt FCM, 2025-11-21T08:01:00") }, "\(waiting)")
        #expect(waiting.contains { $0.contains("in flight   Web Push, until 2025-11-21T08:00:30") }, "\(waiting)")

        let index = try #require(message.relay.components.firstIndex { $0.component == .webpush })
        message.relay.components[index].state = .accepted
        message.relay.components[index].name = "1200"
        message.relay.components[index].acceptedAt = Self.time + 900
        message.relay.webpushAttempt = nil
        let sent = lines(of: ItemLife(message: message))
        #expect(sent.contains { $0.contains("Web Push") && $0.hasSuffix("handed over for 1200 browsers") }, "\(sent)")
        #expect(sent.contains { $0.hasSuffix("the Web Push service has logged the pushes to 1200 browsers") })
        #expect(!sent.contains { $0.contains("1200 by FCM") || $0.contains("as 1200") })
        // FCM decides what running apps may fetch.
        #expect(lines(of: ItemLife(message: message), after: 9_000).contains { $0.contains("running apps can fetch it") })
    }

    @Test("Without FCM nothing speaks of it, and the Web Push service decides what running apps fetch")
    func withoutFCM() {
        var message = alert(by: .webpush)
        message.receipts = MessageReceipts(received: 1, opened: 0)
        message.relay.attempts = 1
        message.relay.components[0].error = DeliveryError(class: .retryable, code: "RELAY_NO_ANSWER", message: "late")
        #expect(!lines(of: ItemLife(message: message)).contains { $0.contains("FCM") || $0.contains("no line of the relay") })
        message.receipts = nil
        #expect(lines(of: ItemLife(message: message)).contains { $0.contains("running apps can fetch it") })
        message.relay.components[0].state = .accepted
        #expect(!lines(of: ItemLife(message: message)).contains { $0.contains("running apps can fetch it") })
    }

    @Test("A block names its browsers, and the push services that have accepted it")
    func block() {
        var push = Push(
            sender: "webpush", idempotencyKey: "k/0/push.example", transport: .webpush,
            fairnessKey: "webpush/push.example/\(Self.topic)", message: [:], urgency: .high,
            logged: Self.time, expires: Self.time + 86_400_000,
            relay: PushRecord(
                logged: (0..<30).map { _ in PushRecipient.token(ObjectID().description) }, by: .webpush, due: Self.time,
                expires: Self.time + 86_400_000))
        push.relay.recipients[0].state = .accepted
        push.relay.recipients[0].name = "https://push.example/m/1"
        push.relay.recipients[0].acceptedAt = Self.time + 900
        let found = lines(of: ItemLife(push: push))
        for part in [
            "a block of pushes to browsers, webpush/push.example/\(Self.topic)",
            "accepted by its push service as https://push.example/m/1",
            "and 10 more browsers", "push services have accepted it for 1 browser",
        ] {
            #expect(found.contains { $0.contains(part) }, "\(part): \(found)")
        }
        #expect(!found.contains { $0.contains("FCM") })
    }

    @Test("A message names the blocks of its pushes with their push services, in the order in which they were logged")
    func blocks() throws {
        func block(_ key: String, _ states: [DeliveryState], _ error: DeliveryError? = nil) -> Push {
            var relay = PushRecord(
                logged: states.map { _ in PushRecipient.token(ObjectID().description) }, by: .webpush, due: Self.time,
                expires: Self.time + 86_400_000)
            relay.state = .failed
            for (index, state) in states.enumerated() {
                relay.recipients[index].state = state
                if state == .failed { relay.recipients[index].error = error }
            }
            return Push(
                sender: "webpush", idempotencyKey: key, transport: .webpush, fairnessKey: "webpush", message: [:],
                urgency: .high, logged: Self.time, expires: Self.time + 86_400_000, relay: relay)
        }
        var message = alert(by: .webpush)
        let gone = DeliveryError(.unregistered, "it has ended")
        let pushes = [
            block("k/10/push.apple.com", [.accepted]), block("k/2/push.example:8443", [.accepted, .failed, .accepted], gone),
            block("k", [.accepted]),
        ]
        var life = ItemLife(message: message, blocks: MessageBlock.ordered(pushes.map { PushSummary($0) }))
        let found = lines(of: life).filter { $0.hasPrefix("  block") }
        #expect(
            found == [
                "  block       \(pushes[1].id) at push.example:8443: failed, 2 accepted, 1 failed; error: UNREGISTERED it has ended",
                "  block       \(pushes[0].id) at push.apple.com: failed, 1 accepted",
            ])
        let json = try JSONValue(parsing: try JSONCoder.encode(life))["blocks"]?.elements
        #expect(json?.count == 2 && json?.first?["push_id"]?.string == pushes[1].id.description)
        #expect(json?.first?["service"] == "push.example:8443" && json?.first?["browsers"]?["accepted"] == 2)
        life.blocks = []
        #expect(!lines(of: life).contains { $0.contains("block") }, "the message waits")
        message.relay.components[0].state = .accepted
        life.message = message
        #expect(lines(of: life).contains { $0.hasSuffix("none any more: each is removed a day after its end") })
    }

    private func summary(of relay: RelayRecord) throws -> String {
        try JSONCoder.decode(SentMessage.self, from: try JSONCoder.encode(["relay": relay])).summary
    }

    @Test("msi send says how many browsers a message goes to, beside what FCM has made of it")
    func browsers() throws {
        var relay = RelayRecord(logged: .alert, by: [.fcm, .webpush], due: Self.time, expires: Self.time)
        relay.state = .relayed
        for index in relay.components.indices { relay.components[index].state = .accepted }
        let index = try #require(relay.components.firstIndex { $0.component == .webpush })
        relay.components[index].name = "1"
        #expect(try summary(of: relay) == "relayed (Web Push: handed over for 1 browser)")
        relay.components[index].name = "1200"
        relay.state = .failed
        let data = try #require(relay.components.firstIndex { $0.component == .data })
        relay.components[data].state = .failed
        relay.components[data].error = DeliveryError(class: .permanent, code: "INVALID_ARGUMENT", message: "a wrong field")
        #expect(
            try summary(of: relay) == "failed (data: INVALID_ARGUMENT a wrong field; Web Push: handed over for 1200 browsers)")
    }

    @Test("msi send names Web Push when its pushes have failed")
    func send() throws {
        var relay = RelayRecord(logged: .alert, by: .webpush, due: Self.time)
        relay.state = .failed
        relay.components[0].state = .failed
        relay.components[0].error = DeliveryError(class: .permanent, code: "SWITCHED_OFF", message: "Web Push is switched off")
        #expect(try summary(of: relay) == "failed (Web Push: SWITCHED_OFF Web Push is switched off)")
    }
}
