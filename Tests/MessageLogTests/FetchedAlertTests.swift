import CommandBus
import Schemas
import TestSupport
import Testing
import Time

/// Alerts that phones fetch while FCM does not accept them.
@Suite("Alerts beside FCM", .timeLimit(.minutes(10)))
struct FetchedAlertTests {
    private static let delay = ["MSI_ALERT_FETCH_DELAY": "1"]
    private static let elsewhere = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    @Test(
        "Phones fetch Alerts that FCM has not accepted in time, and none that it has refused for good or that must not go out yet",
        arguments: StoreKind.allCases)
    func waiting(_ kind: StoreKind) async throws {
        let relay = RelayDouble { command in
            switch command.draft.title {
            case "relayed": command.components.map(\.accepted)
            case "refused":
                command.components.map {
                    $0 == .data ? $0.refused(.permanent, "INVALID_ARGUMENT") : $0.refused(.retryable, "UNAVAILABLE")
                }
            default: command.components.map { $0.refused(.retryable, "UNAVAILABLE") }
            }
        }
        try await RunningMessageLog.with(relay, on: kind, settings: Self.delay) { log in
            let posted = UnixMilliseconds.now
            for title in ["refused", "relayed", "first", "second"] { _ = try await log.log(.sample(title)) }
            _ = try await log.log(.sample("elsewhere", topic: Self.elsewhere))
            _ = try await log.log(.sample("silent", distribution: .information))
            _ = try await log.log(.sample("held", approval: true))
            _ = try await log.log(.sample("later") { $0.delay = 60 })
            let page: ReadAccepted.Reply = try await eventually("both wait for long enough") {
                let page = try await log.client.request(ReadAccepted(topics: [.sample]))
                return page.waiting?.map(\.title) == ["first", "second"] && !page.messages.isEmpty ? page : nil
            }
            #expect(UnixMilliseconds.now - posted >= 1_000)
            #expect(page.messages.map(\.title) == ["relayed"] && page.recalled == nil)
            let all: FollowAccepted.Reply = try await eventually("that of another topic, too") {
                let all = try await log.client.request(FollowAccepted())
                return all.waiting?.count == 3 ? all : nil
            }
            #expect(all.waiting?.map(\.title) == ["first", "second", "elsewhere"] && all.recalled == nil)
            #expect(all.waiting?.first?.desc == "\"Quotes\", 🎓, مكتبة" && all.waiting?.first?.distribution == .alert)
        }
    }

    @Test(
        "Without a relay phones fetch an Alert, and their reports count; after a recall they are told to remove it",
        arguments: StoreKind.allCases)
    func recalled(_ kind: StoreKind) async throws {
        try await RunningMessageLog.with(on: kind, settings: Self.delay) { log in
            let key = try await log.log(.sample("waits")).msiKey
            let early = try await log.log(.sample("recalled in time") { $0.delay = 60 }).msiKey
            let held = try await log.log(.sample("rejected", approval: true)).msiKey
            for key in [early, held] { _ = try await log.client.request(RecallMessage(msiKey: key), context: .ann) }
            try await eventually("phones can fetch it") {
                try await log.client.request(ReadAccepted(topics: [.sample])).waiting?.map(\.msiKey) == [key]
            }
            let report = AddReceipts(installation: ObjectID(), report: 1, received: [key, early], opened: [])
            _ = try await log.client.request(report)
            #expect(try await log.message(key).receipts == MessageReceipts(received: 1, opened: 0))
            // While the message log asks for a relay, it cannot be recalled.
            try await eventually("it is recalled") {
                await log.client.failure(of: RecallMessage(msiKey: key), context: .ann) == nil
            }
            let page = try await log.client.request(ReadAccepted(topics: [.sample, Self.elsewhere]))
            #expect(page.waiting == nil && page.recalled == [key])
            #expect(try await log.client.request(ReadAccepted(topics: [Self.elsewhere])).recalled == nil)
            let all = try await log.client.request(FollowAccepted())
            #expect(all.recalled == [RecalledAlert(msiKey: key, topicKey: .sample)])
        }
    }
}
