import Base
import Bus
import Schemas
import TestSupport
import Testing

/// Messages that go by FCM and by Web Push, while one of the two is away, and with FCM switched off.
@Suite("Web Push over the bus", .timeLimit(.minutes(10)))
struct WebPushOverTheBusTests {
    private static let withoutFCM = WebPushDouble.settings.merging(["MSI_FCM": "off"]) { $1 }

    private func states(_ record: RelayRecord) -> [DeliveryState] { record.components.map(\.state) }

    @Test("A message is handed to both, each once, and is relayed when both have it", arguments: StoreKind.allCases)
    func both(_ kind: StoreKind) async throws {
        let (relay, webpush) = (RelayDouble(), WebPushDouble())
        try await RunningMessageLog.with(relay, on: kind, settings: WebPushDouble.settings) { log in
            try await webpush.run(in: log.folder) {
                let key = try await log.log(.sample()).msiKey
                let record = try await log.wait(for: key) { $0.state == .relayed }
                #expect(record.components.map(\.component) == [.notification, .data, .webpush])
                #expect(record.components[2].name == "3" && record.accepted != nil && record.webpushAttempt == nil)
                #expect(relay.asked(key) == [[.notification, .data]] && webpush.count(key) == 1)
                try await eventually("both are healthy") {
                    let parts = try await log.client.request(CheckHealth()).parts
                    return ["relay", "webpush"].allSatisfy { parts[$0]?.status == .ok }
                }
            }
        }
    }

    @Test(
        "While FCM's relay is away, browsers get messages at once, and FCM gets its parts afterwards",
        arguments: StoreKind.ofRules)
    func withoutRelay(_ kind: StoreKind) async throws {
        let webpush = WebPushDouble()
        try await RunningMessageLog.with(on: kind, settings: WebPushDouble.settings) { log in
            try await webpush.run(in: log.folder) {
                var keys: [ObjectID] = []
                for number in 0..<20 {
                    let key = try await log.log(.sample("\(number)")).msiKey
                    keys.append(key)
                    let record = try await log.wait(for: key, within: .seconds(30)) { states($0).last == .accepted }
                    #expect(record.state == .retrying && states(record) == [.pending, .pending, .accepted])
                }
                let relay = RelayDouble()
                try await relay.run(in: log.folder) {
                    for key in keys {
                        let record = try await log.wait(for: key) { $0.state == .relayed }
                        #expect(relay.asked(key) == [[.notification, .data]] && webpush.count(key) == 1, "\(record)")
                    }
                }
            }
            #expect(log.warnings("no relay takes messages") == 1)
        }
    }

    @Test(
        "While the Web Push service is away, FCM gets messages at once, and browsers get them afterwards",
        arguments: StoreKind.ofRules)
    func withoutWebPush(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay, on: kind, settings: WebPushDouble.settings) { log in
            var keys: [ObjectID] = []
            for number in 0..<20 {
                let key = try await log.log(.sample("\(number)")).msiKey
                keys.append(key)
                let record = try await log.wait(for: key, within: .seconds(30)) { states($0)[1] == .accepted }
                #expect(states(record) == [.accepted, .accepted, .pending] && record.accepted != nil)
            }
            #expect(log.warnings("the Web Push service takes no messages") == 1)
            let webpush = WebPushDouble()
            try await webpush.run(in: log.folder) {
                for key in keys {
                    _ = try await log.wait(for: key) { $0.state == .relayed }
                    #expect(relay.asked(key).count == 1 && webpush.count(key) == 1)
                }
            }
        }
    }

    @Test("Blocks are relayed by the Web Push service, and what push services refuse for now is tried again")
    func blocks() async throws {
        let first = First()
        let webpush = WebPushDouble(pushes: { command in
            let isFirst = first.take()
            return command.recipients.map { recipient in
                isFirst && recipient.text == "b"
                    ? .failure(DeliveryError(.unavailable, retryAfter: 100)) : .success("https://push.example/\(recipient.text)")
            }
        })
        try await RunningMessageLog.with(settings: WebPushDouble.settings) { log in
            try await webpush.run(in: log.folder) {
                let command = LogPush(
                    idempotencyKey: "block", transport: .webpush, recipients: [.token("a"), .token("b")], fairnessKey: "news",
                    message: ["payload": ["web_push": 8_030], "urgency": "high"], expires: .now + 3_600_000)
                let id = try await log.client.request(command, context: CallerContext(actor: "webpush")).push.id
                let push = try await eventually { () -> Push? in
                    let push = try await log.client.request(GetPush(pushID: id))
                    return push.relay.state == .relayed ? push : nil
                }
                #expect(push.urgency == .high && push.relay.attempts == 2)
                #expect(webpush.asked.map { $0.recipients.map(\.text) } == [["a", "b"], ["b"]])
                #expect(webpush.asked.allSatisfy { $0.transport == .webpush })
                let wrong = LogPush(
                    idempotencyKey: "wrong", transport: .webpush, recipients: [.topic("news")], fairnessKey: "news",
                    message: ["payload": [:], "urgency": "high"], expires: .now + 3_600_000)
                #expect(await log.client.failure(of: wrong, context: CallerContext(actor: "webpush"))?.status == .invalid)
            }
        }
    }

    @Test("A block of a recalled message is not sent any more", arguments: StoreKind.ofRules)
    func recalledBlock(_ kind: StoreKind) async throws {
        let webpush = WebPushDouble()
        try await RunningMessageLog.with(on: kind, settings: WebPushDouble.settings) { log in
            try await webpush.run(in: log.folder) {
                let kept = try await log.log(.sample("kept", sendAt: .now + 600_000)).msiKey
                let recalled = try await log.log(.sample("recalled", sendAt: .now + 600_000)).msiKey
                _ = try await log.client.request(RecallMessage(msiKey: recalled), context: .communicator)
                var ended: [Push] = []
                for key in [recalled, kept] {
                    let command = LogPush(
                        idempotencyKey: "\(key)/0", transport: .webpush, recipients: [.token("a"), .token("b")],
                        fairnessKey: "news",
                        message: ["payload": ["msi": ["msi_key": .string(key.description)]], "urgency": "high"],
                        expires: .now + 3_600_000)
                    let id = try await log.client.request(command, context: CallerContext(actor: "webpush")).push.id
                    ended.append(
                        try await eventually { () -> Push? in
                            let push = try await log.client.request(GetPush(pushID: id))
                            return push.relay.ended == nil ? nil : push
                        })
                }
                #expect(ended.map(\.relay.state) == [.recalled, .relayed])
                #expect(ended[0].relay.recipients.map(\.state) == [.recalled, .recalled] && ended[0].relay.lease == nil)
                #expect(webpush.asked.map(\.pushID) == [ended[1].id])
            }
        }
    }

    @Test("With FCM switched off, a message has only the part for Web Push, and running apps get it when that was accepted")
    func fcmOff() async throws {
        let webpush = WebPushDouble()
        try await RunningMessageLog.with(settings: Self.withoutFCM) { log in
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let waiting = try await log.log(.sample("waits", topic: topic)).msiKey
            #expect(try await log.message(waiting).relay.components.map(\.component) == [.webpush])
            // As an Alert that waits for its transport.
            try await eventually {
                try await log.client.request(ReadAccepted(topics: [topic])).waiting?.map(\.msiKey) == [waiting]
            }
            try await webpush.run(in: log.folder) {
                _ = try await log.wait(for: waiting) { $0.state == .relayed && $0.accepted != nil }
                try await eventually {
                    try await log.client.request(ReadAccepted(topics: [topic])).messages.map(\.msiKey) == [waiting]
                }
                let health = try await log.client.request(CheckHealth()).parts
                #expect(health["relay"] == nil && health["webpush"] != nil)
                let refusal = await log.client.failure(of: LogPush.sample(), context: CallerContext(actor: "people"))
                #expect(refusal?.status == .invalid && refusal?.message.contains("MSI_FCM") == true)
            }
        }
    }

    @Test("With both switched off, messages are stored, and running apps get them when they are due")
    func bothOff() async throws {
        try await RunningMessageLog.with(settings: ["MSI_FCM": "off"]) { log in
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let later = try await log.log(.sample("later", topic: topic, sendAt: .now + 600_000)).msiKey
            let key = try await log.log(.sample("now", distribution: .information, topic: topic)).msiKey
            let record = try await log.wait(for: key) { $0.state == .relayed }
            #expect(record.components.isEmpty && record.accepted != nil)
            try await eventually { try await log.client.request(ReadAccepted(topics: [topic])).messages.map(\.msiKey) == [key] }
            #expect(try await log.message(later).relay.state == .pending)
            let parts = try await log.client.request(CheckHealth()).parts
            #expect(parts["relay"] == nil && parts["webpush"] == nil)
        }
    }

    @Test(
        "What waits for a transport fails when the service starts without it, and its other parts stay",
        arguments: StoreKind.ofRules)
    func switchedOff(_ kind: StoreKind) async throws {
        try await withDatabase(kind) { folder, database in
            let relay = RelayDouble()
            let key = try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: database.merging(WebPushDouble.settings) { $1 }) { log in
                    let key = try await log.log(.sample()).msiKey
                    _ = try await log.wait(for: key) { states($0)[1] == .accepted }
                    return key
                }
            }
            try await RunningMessageLog.with(in: folder, settings: database) { log in
                let record = try await log.wait(for: key) { $0.state == .failed }
                #expect(states(record) == [.accepted, .accepted, .failed])
                #expect(record.components[2].error?.code == "SWITCHED_OFF")
            }
        }
    }
}
