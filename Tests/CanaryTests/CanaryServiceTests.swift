import Logging
import Schemas
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Canary

/// The canary with a hub of the test.
@Suite("Canary")
struct CanaryServiceTests {
    private final class TestHub: Hub {
        let posted = Mutex<[ObjectID]>([])
        let failure = Mutex<HubFailure?>(nil)
        let progress = Mutex(Progress(state: .relayed, isReceived: true))

        func post(_ text: String, ttl: Duration) async throws -> ObjectID {
            if let failure = failure.withLock(\.self) { throw failure }
            let key = ObjectID()
            posted.withLock { $0.append(key) }
            return key
        }

        func progress(of msiKey: ObjectID) async throws -> Progress { progress.withLock(\.self) }
    }

    @Test("It continues after failures, and logs only the first one and the first message that arrives again")
    func outage() async throws {
        let hub = TestHub()
        let log = RecordedLog()
        let metrics = CanaryMetrics(interval: .milliseconds(20), now: .now)
        let canary = Canary(hub: hub, interval: .milliseconds(20), metrics: metrics, logger: log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await canary.run() }
            try await eventually("messages") { hub.posted.withLock(\.count) >= 3 }
            #expect(log.louderThanDebug.isEmpty)
            hub.failure.withLock { $0 = HubFailure(description: "the gateway answers 503") }
            try await eventually("a warning") { !log.louderThanDebug.isEmpty }
            try await eventually("further failures") { log.lines.count { $0.level == .debug } >= 2 }
            #expect(log.louderThanDebug.count == 1)
            #expect(log.louderThanDebug[0].contains("not_stored") && log.louderThanDebug[0].contains("503"))
            hub.failure.withLock { $0 = nil }
            try await eventually("the end of the outage") { log.louderThanDebug.last?.contains("arrive again") ?? false }
            group.cancelAll()
        }
        #expect(log.louderThanDebug.count == 2)
    }

    @Test("A message that FCM has and no phone reports is given up after five intervals")
    func silence() async throws {
        let hub = TestHub()
        hub.progress.withLock { $0 = Progress(state: .relayed) }
        let log = RecordedLog()
        let canary = Canary(
            hub: hub, interval: .milliseconds(50), metrics: CanaryMetrics(interval: .milliseconds(50), now: .now),
            logger: log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await canary.run() }
            try await eventually("a warning") { log.louderThanDebug.first?.contains("not_received") ?? false }
            group.cancelAll()
        }
    }
}
