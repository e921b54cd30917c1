import Bus
import Archive
import Store
import Schemas
import Synchronization
import TestSupport
import Testing
import Base

@testable import MessageLog

/// Alerts that phones fetch while FCM does not accept them.
@Suite("Alerts beside FCM", .timeLimit(.minutes(10)))
struct FetchedAlertTests {
    private static let delay = ["MSI_ALERT_FETCH_DELAY": "1"]
    private static let elsewhere = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    @Test(
        "Phones fetch Alerts of which FCM has accepted nothing in time, and none that it has refused for good or that must not go out yet",
        arguments: StoreKind.ofRules)
    func waiting(_ kind: StoreKind) async throws {
        let relay = RelayDouble { command in
            switch command.content.title {
            case "relayed": command.components.map(\.accepted)
            // The phones show its pop-up already.
            case "shown":
                command.components.map {
                    $0 == .data ? $0.refused(.retryable, "QUOTA_EXCEEDED") : $0.accepted
                }
            case "refused":
                command.components.map {
                    $0 == .data ? $0.refused(.permanent, "INVALID_ARGUMENT") : $0.refused(.retryable, "UNAVAILABLE")
                }
            default: command.components.map { $0.refused(.retryable, "UNAVAILABLE") }
            }
        }
        try await RunningMessageLog.with(relay, on: kind, settings: Self.delay) { log in
            let posted = UnixMilliseconds.now
            for title in ["refused", "relayed", "shown", "first", "second"] { _ = try await log.log(.sample(title)) }
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
        arguments: StoreKind.ofRules)
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
            #expect(try await log.message(early).receipts == nil)
            try await eventually("phones are told within a moment") {
                let page = try await log.client.request(ReadAccepted(topics: [.sample, Self.elsewhere]))
                return page.waiting == nil && page.recalled == [key]
            }
            #expect(try await log.client.request(ReadAccepted(topics: [Self.elsewhere])).recalled == nil)
            let all = try await log.client.request(FollowAccepted())
            #expect(all.recalled == [RecalledAlert(msiKey: key, topicKey: .sample)])
        }
    }

    @Test(
        "What is discarded after a restore stays on phones, which may have it since the backup; a recall after its release counts",
        arguments: StoreKind.ofRules)
    func discarded(_ kind: StoreKind) async throws {
        try await withDatabase(kind) { folder, settings in
            let settings = settings.merging(Self.delay) { given, _ in given }
            // No relay runs, so both wait.
            let (discarded, released) = try await RunningMessageLog.with(in: folder, settings: settings) { log in
                (try await log.log(.sample("discarded")).msiKey, try await log.log(.sample("released")).msiKey)
            }
            let database = try settings["MSI_DATABASE_URL"].map { try MongoURL($0) }
            let store = try await openMessageStore(database: database, folder: folder, logger: quietLogger)
            #expect(try await store.holdAfterRestore(by: "msi restore", at: .now) == 2)
            try await store.close()
            try await RunningMessageLog.with(in: folder, settings: settings) { log in
                let client = log.client
                #expect(try await client.request(ReadAccepted(topics: [.sample])).waiting == nil)
                _ = try await client.request(DiscardHeld(keys: [discarded]), context: .ann)
                _ = try await client.request(ReleaseHeld(keys: [released]), context: .ann)
                try await eventually("phones can fetch it") {
                    try await client.request(ReadAccepted(topics: [.sample])).waiting?.map(\.msiKey) == [released]
                }
                try await eventually("it is recalled") {
                    await client.failure(of: RecallMessage(msiKey: released), context: .ann) == nil
                }
                try await eventually("phones remove only that one") {
                    try await client.request(ReadAccepted(topics: [.sample])).recalled == [released]
                }
            }
        }
    }

    @Test("The lists are beside the last page, and not beside one after which others follow")
    func lastPage() {
        let alert = PhoneMessage(
            msiKey: ObjectID(), topicKey: .sample, distribution: .alert, title: "t", desc: "d", message: "m", timestamp: 1)
        let alerts = FetchableAlerts(
            waiting: [alert], recalled: [RecalledAlert(msiKey: ObjectID(), topicKey: .sample)])
        func reply(_ count: Int) -> ReadAccepted.Reply {
            ReadAccepted.Reply(messages: Array(repeating: alert, count: count), next: PageCursor(before: 1)).with(alerts)
        }
        #expect(reply(99).waiting == [alert] && reply(99).recalled == alerts.recalled.map(\.msiKey))
        #expect(reply(100).waiting == nil && reply(100).recalled == nil)
    }

    @Test("Many who ask share one reading, which serves for a quarter of a second; a failed one does not")
    func sharedReading() async throws {
        let count = Mutex(0)
        let mayEnd = AsyncStream<Void>.makeStream()
        let reader = FetchableAlertsReader {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { for await _ in mayEnd.stream { break } }
            if number == 2 { throw CommandFailure(.unavailable, "away") }
            return FetchableAlerts(waiting: [], recalled: [])
        }
        let start = ContinuousClock.now
        let first = Task { try await reader.alerts(at: start) }
        try await eventually("the first reading has begun") { count.withLock(\.self) == 1 }
        let others = (0..<10).map { number in Task { try await reader.alerts(at: start + .milliseconds(number)) } }
        mayEnd.continuation.yield()
        for one in [first] + others { _ = try await one.value }
        _ = try await reader.alerts(at: start + .milliseconds(249))
        #expect(count.withLock(\.self) == 1)
        await #expect(throws: CommandFailure.self) { try await reader.alerts(at: start + .milliseconds(250)) }
        _ = try await reader.alerts(at: start + .milliseconds(251))
        #expect(count.withLock(\.self) == 3)
    }
}
