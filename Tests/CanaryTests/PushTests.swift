import Base
import FoundationEssentials
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import WebPushKeys

@testable import Canary

/// The canary's own Web Push subscription.
@Suite("Canary's pushes")
struct PushTests {
    /// A hub that encrypts its pushes and hands them to the inbox.
    private final class TestHub: Hub, PushHub {
        struct Subscriber {
            let name: String
            let keys: PushKeys
            var isProven = false
        }

        let inbox: PushInbox
        let subscribers = Mutex<[Subscriber]>([])
        let failure = Mutex<HubFailure?>(nil)
        let isSilent = Mutex(false)
        let removed = Mutex(0)
        let reports = Mutex<[AddReceipts]>([])
        let texts = Mutex<[String]>([])
        private let codeText = "pH2cXoY9m3kqv0sT7wZ1bN4dF6gJ8hL5rE2uC9aVxQM"

        init(inbox: PushInbox) {
            self.inbox = inbox
        }

        func push(_ json: String) throws {
            guard let last = subscribers.withLock(\.last) else { return }
            #expect(inbox.take(try PushTests.encrypt(Data(json.utf8), for: last.keys), at: last.name) == .taken)
        }

        func subscribe(_ endpoint: String, keys: PushKeys) async throws -> PushSubscription {
            if let failure = failure.withLock(\.self) { throw failure }
            #expect(endpoint.hasPrefix("http://127.0.0.1:9/push/"))
            let name = String(endpoint.dropFirst("http://127.0.0.1:9/push/".count))
            subscribers.withLock { $0.append(Subscriber(name: name, keys: keys)) }
            if !isSilent.withLock(\.self) { try push(#"{"web_push":8030,"msi":{"code":"\#(codeText)"}}"#) }
            return PushSubscription(id: ObjectID(), secret: Secret("secret"))
        }

        func prove(_ subscription: PushSubscription, code: Secret) async throws {
            #expect(code.text == codeText)
            subscribers.withLock { $0[$0.count - 1].isProven = true }
        }

        func refresh(_ subscription: PushSubscription) async throws {
            if let failure = failure.withLock(\.self) { throw failure }
        }

        func unsubscribe(_ subscription: PushSubscription) async throws { removed.withLock { $0 += 1 } }

        func report(_ receipts: AddReceipts) async throws {
            if let failure = failure.withLock(\.self) { throw failure }
            reports.withLock { $0.append(receipts) }
        }

        func post(_ text: String, ttl: Duration) async throws -> ObjectID {
            let key = ObjectID()
            texts.withLock { $0.append(text) }
            if !isSilent.withLock(\.self) { try push(#"{"web_push":8030,"msi":{"msi_key":"\#(key)"}}"#) }
            return key
        }

        func progress(of msiKey: ObjectID) async throws -> Progress { Progress(state: .relayed, isReceived: true) }
    }

    private static func encrypt(_ text: Data, for keys: PushKeys) throws -> Data {
        try PushEncryption.encrypt(text, to: BrowserKeys(p256dh: keys.p256dh, auth: keys.authSecret))
    }

    private func subscriber(_ hub: TestHub, timeout: Duration = .seconds(30), _ log: RecordedLog) -> PushSubscriber {
        PushSubscriber(
            hub: hub, inbox: hub.inbox, url: "http://127.0.0.1:9", interval: .milliseconds(20), codeTimeout: timeout,
            logger: log.logger)
    }

    @Test("Without a port there is no subscription; without FCM the canary reports its pushes")
    func settings() async throws {
        func push(_ more: [String: String]) async throws -> CanarySettings.Push? {
            let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            let own = ["MSI_CANARY_TOPIC": "\(topic)", "MSI_CANARY_TOKEN": "token"]
            return try CanarySettings(
                await SettingValues(
                    arguments: [], environment: own.merging(more) { $1 }, accepted: SettingDeclaration.all)
            ).push
        }
        for more in [[:], ["MSI_FCM": "off"]] { #expect(try await push(more) == nil) }
        let plain = try await push(["MSI_CANARY_PUSH_PORT": "8095"])
        #expect(plain == .init(port: 8_095, url: "http://127.0.0.1:8095", reports: false))
        let proxied = ["MSI_CANARY_PUSH_PORT": "8095", "MSI_CANARY_PUSH_URL": "https://canary.example.edu", "MSI_FCM": "off"]
        #expect(try await push(proxied) == .init(port: 8_095, url: "https://canary.example.edu", reports: true))
        for (name, wrong) in [("PORT", "0"), ("PORT", "http"), ("URL", "http://10.1.2.3:8095"), ("URL", "https://a.edu/x")] {
            await #expect(throws: ConfigurationError.self) {
                try await push(["MSI_CANARY_PUSH_PORT": "8095"].merging(["MSI_CANARY_PUSH_\(name)": wrong]) { $1 })
            }
        }
    }

    @Test("A push is taken at the subscription's address only, and a second copy does not move its arrival")
    func inbox() throws {
        let arrived = Mutex<[ObjectID]>([])
        let inbox = PushInbox { key in arrived.withLock { $0.append(key) } }
        #expect(inbox.take(Data(), at: "") == .unknownPath)
        let (address, key, now) = (inbox.renew(), ObjectID(), ContinuousClock.now)
        let body = try Self.encrypt(Data(#"{"msi":{"msi_key":"\#(key)"}}"#.utf8), for: address.keys)
        #expect(inbox.take(body, at: "other") == .unknownPath)
        #expect(inbox.take(Data(count: 200), at: address.name) == .unreadable)
        #expect(inbox.take(try Self.encrypt(Data("[]".utf8), for: address.keys), at: address.name) == .unreadable)
        #expect(inbox.take(body, at: address.name, now: now) == .taken)
        #expect(inbox.take(body, at: address.name, now: now + .seconds(5)) == .taken)
        #expect(inbox.arrival(of: key) == now && arrived.withLock(\.self) == [key])
        _ = inbox.renew()
        #expect(inbox.take(body, at: address.name) == .unknownPath)
    }

    @Test("It proves its subscription, makes a new one once it has ended, and removes it at the end")
    func subscription() async throws {
        let (hub, log) = (TestHub(inbox: PushInbox()), RecordedLog())
        let subscriber = subscriber(hub, log)
        #expect(subscriber.state == .starting)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await subscriber.run() }
            try await eventually("the subscription") { subscriber.state == .subscribed }
            #expect(hub.subscribers.withLock { $0.map(\.isProven) } == [true])
            hub.failure.withLock { $0 = HubFailure(description: "the gateway answers 404", status: 404) }
            try await eventually("the end") { subscriber.state == .failed("the gateway answers 404") }
            hub.failure.withLock { $0 = nil }
            try await eventually("a new one") { subscriber.state == .subscribed }
            #expect(hub.subscribers.withLock(\.count) == 2)
            group.cancelAll()
        }
        await subscriber.end()
        await subscriber.end()
        #expect(hub.removed.withLock(\.self) == 1)
    }

    @Test("Without the first push there is no subscription, and one warning says why")
    func noFirstPush() async throws {
        let (hub, log) = (TestHub(inbox: PushInbox()), RecordedLog())
        hub.isSilent.withLock { $0 = true }
        let subscriber = subscriber(hub, timeout: .milliseconds(10), log)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await subscriber.run() }
            try await eventually("further attempts") { hub.subscribers.withLock(\.count) >= 3 }
            #expect(log.louderThanDebug.count { $0.contains("first push") } == 1)
            group.cancelAll()
        }
    }

    @Test("Pushes that stop are a warning, and their return a notice, while phones report every message")
    func outage() async throws {
        let (hub, log) = (TestHub(inbox: PushInbox()), RecordedLog())
        let subscriber = subscriber(hub, RecordedLog())
        let watch = PushWatch(
            inbox: hub.inbox, subscriber: subscriber, metrics: PushMetrics(now: .now), logger: log.logger)
        // A busy machine does not look at a message for a while. After five intervals it would count as lost.
        let interval = Duration.milliseconds(500)
        let canary = Canary(
            hub: hub, interval: interval, metrics: CanaryMetrics(interval: interval, now: .now), push: watch, logger: log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await subscriber.run() }
            try await eventually("the subscription") { subscriber.state == .subscribed }
            hub.isSilent.withLock { $0 = true }
            group.addTask { try await canary.run() }
            try await eventually("a warning") { log.louderThanDebug.contains { $0.contains("not_received") } }
            hub.isSilent.withLock { $0 = false }
            try await eventually("the end") { log.louderThanDebug.contains { $0.contains("pushes arrive again") } }
            // Each message says how the last push has ended.
            @Sendable func said(_ part: String) -> Bool { hub.texts.withLock { $0.contains { $0.contains(part) } } }
            #expect(said("No push arrives: none has ended since the start") && said("No push arrives: no push within"))
            try await eventually("a message about the arrival") { said("The last push took") }
            group.cancelAll()
        }
        // Phones have reported every message.
        #expect(!log.louderThanDebug.contains { $0.contains("a message has not arrived") || $0.contains("messages arrive") })
    }

    @Test("What could not be reported is reported with the next message")
    func receipts() async throws {
        let hub = TestHub(inbox: PushInbox())
        let (arrivals, log) = (AsyncStream<ObjectID>.makeStream(), RecordedLog())
        let receipts = PushReceipts(hub: hub, arrivals: arrivals.stream, logger: log.logger)
        let keys = [ObjectID(), ObjectID(), ObjectID()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await receipts.run() }
            hub.failure.withLock { $0 = HubFailure(description: "the gateway answers 503", status: 503) }
            arrivals.continuation.yield(keys[0])
            try await eventually("the failure") { log.lines.contains { $0.level == .debug } }
            hub.failure.withLock { $0 = nil }
            for key in keys.dropFirst() { arrivals.continuation.yield(key) }
            try await eventually("the reports") { hub.reports.withLock(\.count) == 2 }
            group.cancelAll()
        }
        let reports = hub.reports.withLock(\.self)
        #expect(reports.map(\.received) == [[keys[0], keys[1]], [keys[2]]])
        #expect(reports.map(\.report) == [2, 3] && Set(reports.map(\.installation)).count == 1)
    }
}
