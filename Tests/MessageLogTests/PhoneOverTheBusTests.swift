import Bus
import Schemas
import TestSupport
import Testing
import Base

/// What phones fetch and report, over the bus.
@Suite("Phones over the bus", .timeLimit(.minutes(10)))
struct PhoneOverTheBusTests {
    private static func report(
        _ received: [ObjectID], opened: [ObjectID] = [], from installation: ObjectID = ObjectID()
    ) -> AddReceipts {
        AddReceipts(installation: installation, report: 1, received: received, opened: opened)
    }

    @Test(
        "What phones report is shown with the message and in the history, and a repeated report counts once",
        arguments: StoreKind.ofRules)
    func receipts(_ kind: StoreKind) async throws {
        let relay = RelayDouble()
        try await RunningMessageLog.with(relay, on: kind) { log in
            let (one, other) = (try await log.log(.sample()).msiKey, try await log.log(.sample()).msiKey)
            for key in [one, other] { _ = try await log.wait(for: key) { $0.state == .relayed } }
            #expect(try await log.message(one).receipts == nil)
            let report = Self.report([one], opened: [one])
            for report in [report, report, Self.report([one, ObjectID()])] { _ = try await log.client.request(report) }
            #expect(try await log.message(one).receipts == MessageReceipts(received: 2, opened: 1))
            let page = try await log.client.request(ListMessages(limit: 5)).messages
            #expect(page.map(\.receipts) == [nil, MessageReceipts(received: 2, opened: 1)])
        }
    }

    @Test("A report without a number or a message, or of too many, is refused")
    func refusals() async throws {
        try await RunningMessageLog.with { log in
            let wrong = [
                AddReceipts(installation: ObjectID(), report: 0, received: [ObjectID()], opened: []), Self.report([]),
                Self.report((0...AddReceipts.maxMessages).map { _ in ObjectID() }),
            ]
            for report in wrong { #expect(await log.client.failure(of: report)?.status == .invalid) }
        }
    }

    @Test(
        "Phones fetch what FCM has accepted as data, even of a message that failed or is a drill, and nothing else",
        arguments: StoreKind.ofRules)
    func accepted(_ kind: StoreKind) async throws {
        let relay = RelayDouble { command in
            switch command.content.title {
            case "pop-up failed": [Component.notification.refused(.permanent, "SENDER_ID_MISMATCH"), Component.data.accepted]
            case "data failed": [Component.notification.accepted, Component.data.refused(.permanent, "SENDER_ID_MISMATCH")]
            default: command.components.map(\.accepted)
            }
        }
        try await RunningMessageLog.with(relay, on: kind) { log in
            let recalled = try await log.log(.sample("recalled") { $0.delay = 60 })
            _ = try await log.client.request(RecallMessage(msiKey: recalled.msiKey), context: .ann)
            _ = try await log.log(.sample("held", approval: true))
            _ = try await log.log(.sample("waiting") { $0.delay = 60 })
            let elsewhere = try await log.log(
                .sample("elsewhere", topic: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())))
            _ = try await log.wait(for: elsewhere.msiKey) { $0.state == .relayed }
            for title in ["data failed", "pop-up failed", "relayed"] {
                let key = try await log.log(.sample(title)).msiKey
                _ = try await log.wait(for: key) { $0.ended != nil }
            }
            let drill = try await log.log(.sample("drill") { $0.drill = true }).msiKey
            _ = try await log.wait(for: drill) { $0.state == .relayed }
            let page = try await log.client.request(ReadAccepted(topics: [.sample]))
            #expect(page.messages.map(\.title) == ["pop-up failed", "relayed", "[DRILL] drill"])
            let all = try await log.client.request(FollowAccepted())
            #expect(all.messages.map(\.message.title) == ["elsewhere", "pop-up failed", "relayed", "[DRILL] drill"])
            #expect(all.end == nil && all.watermark == page.next)
            let later = try await log.client.request(FollowAccepted(after: all.messages[1].cursor))
            #expect(later.messages == Array(all.messages.dropFirst(2)))
        }
    }

    @Test("Two message logs on one database share one acceptance order, and each answers with the messages of both")
    func twoMessageLogs() async throws {
        let relay = RelayDouble()
        try await withDatabase(.mongodb) { folder, settings in
            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: settings) { one in
                    try await RunningMessageLog.with(in: folder, named: "other", settings: settings) { other in
                        var (keys, cursor): ([ObjectID], PageCursor?) = ([], nil)
                        for (number, log) in [one, other, one, other].enumerated() {
                            let key = try await log.log(.sample("\(number)")).msiKey
                            _ = try await log.wait(for: key) { $0.state == .relayed }
                            keys.append(key)
                            var pages: [ReadAccepted.Reply] = []
                            for log in [one, other] {
                                pages.append(try await log.client.request(ReadAccepted(topics: [.sample], after: cursor)))
                            }
                            for page in pages { #expect(page.messages.map(\.msiKey) == keys) }
                            cursor = pages.last?.next
                        }
                    }
                }
            }
        }
    }

    @Test(
        "Only one correction at a time is on its way, and a corrected message is not tried again", arguments: StoreKind.ofRules)
    func corrections(_ kind: StoreKind) async throws {
        let relay = RelayDouble { command in
            command.content.title.contains("fails")
                ? command.components.map { $0.refused(.permanent, "SENDER_ID_MISMATCH") } : command.components.map(\.accepted)
        }
        try await RunningMessageLog.with(relay, on: kind) { log in
            func correction(_ title: String, of key: ObjectID, delay: Seconds? = nil) -> LogMessage {
                .sample(title, idempotencyKey: title) { ($0.follows, $0.correction, $0.delay) = (key, true, delay) }
            }
            func failure(of command: some Command) async -> ReplyStatus? {
                await log.client.failure(of: command, context: .communicator)?.status
            }
            // Long enough for the early correction, on a busy machine.
            let first = try await log.log(.sample("fails") { $0.delay = 5 }).msiKey
            #expect(await failure(of: correction("early", of: first)) == .conflict)
            _ = try await log.wait(for: first) { $0.state == .failed }

            let waiting = correction("waits", of: first, delay: 60)
            let stored = try await log.log(waiting)
            #expect(await failure(of: correction("second", of: first)) == .conflict)
            // A repeated command is answered, by either key.
            #expect(try await log.log(waiting).id == stored.id)
            #expect(try await log.log(correction("waits", of: first, delay: 60)).id == stored.id)
            #expect(await failure(of: RetryMessage(msiKey: first)) == .conflict)
            _ = try await log.client.request(RecallMessage(msiKey: stored.msiKey), context: .communicator)
            _ = try await log.client.request(RetryMessage(msiKey: first), context: .communicator)
            _ = try await log.wait(for: first) { $0.state == .failed }

            let failed = try await log.log(correction("fails too", of: first)).msiKey
            _ = try await log.wait(for: failed) { $0.state == .failed }
            _ = try await log.client.request(RetryMessage(msiKey: failed), context: .communicator)
            _ = try await log.wait(for: failed) { $0.state == .failed }
            let right = try await log.log(correction("right", of: first)).msiKey
            _ = try await log.wait(for: right) { $0.state == .relayed }
            for key in [first, failed] { #expect(await failure(of: RetryMessage(msiKey: key)) == .conflict) }
        }
    }
}
