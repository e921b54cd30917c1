import Base
import Bus
import FoundationEssentials
import Schemas
import Store
import TestSupport
import Testing

@testable import Messaging

/// The calls of a month.
@Suite("Calls of a month", .timeLimit(.minutes(10)))
struct CallTests {
    /// 2026-05-31 23:59:00 UTC.
    private static let endOfMay: UnixMilliseconds = 1_780_271_940_000

    @Test("At nine tenths of the limit the log and the health say so, in the next month no more", arguments: StoreKind.ofRules)
    func alarm(kind: StoreKind) async throws {
        try await RemovalHarness.with(kind, calls: 100, clock: TestClock(Self.endOfMay)) { harness in
            let calls = CallCounts(changes: harness.changes, logger: harness.lines.logger)
            // Of another instance.
            let others = CallCounts(changes: harness.changes, logger: quietLogger)
            for _ in 0..<60 { calls.count("sendMessage") }
            for _ in 0..<29 { others.count("getMessage") }
            for counts in [calls, others, calls] { try await whenAvailable { try await counts.store() } }
            #expect(calls.health == ["calls": .ok] && !harness.lines.has("calls of the messaging service"))
            calls.count("getMessage")
            #expect(calls.health["calls"]?.status == .overloaded)
            for _ in 0..<3 { try await whenAvailable { try await calls.store() } }
            let warnings = harness.lines.louderThanDebug.filter { $0.contains("90 calls of the messaging service in 2026-05") }
            #expect(warnings.count == 1)
            let known = try await calls.calls()
            #expect(known.month == "2026-05" && known.calls == ["sendMessage": 60, "getMessage": 30])

            harness.clock.pass(.seconds(60))
            calls.count("others")
            try await whenAvailable { try await calls.store() }
            #expect(calls.health == ["calls": .ok])
            let next = try await calls.calls()
            #expect(next.month == "2026-06" && next.calls == ["others": 1])
            let may = try await harness.store.get("2026-05", from: MessagingStore.calls)?.document
            #expect(may?.calls == known.calls)
        }
    }

    @Test("Without a limit there is no alarm")
    func unlimited() async throws {
        try await RemovalHarness.with(.sqlite) { harness async throws in
            let calls = CallCounts(changes: harness.changes, logger: harness.lines.logger)
            for _ in 0..<1_000 { calls.count("sendMessage") }
            await calls.storeLast()
            #expect(try await calls.calls().calls == ["sendMessage": 1_000])
            #expect(calls.health == ["calls": .ok] && harness.lines.louderThanDebug.isEmpty)
        }
    }

    @Test(
        "The service counts the calls of persons by the seed's names, and stores them at its end",
        arguments: StoreKind.ofRules)
    func names(kind: StoreKind) async throws {
        let database = try await kind.newDatabaseURL()
        try await withTemporaryFolder { folder in
            let clock = TestClock(Self.endOfMay)
            try await RunningMessaging.with(
                in: folder, database: database, settings: ["MSI_MESSAGING_CALLS": "5"], clock: clock
            ) { messaging in
                let (ann, bob) = (messaging.person("ann"), messaging.person("bob"))
                let sent = try await ann.send("hello", to: "bob")
                for _ in 0..<2 { _ = try await bob.news() }
                try await bob.read(sent)
                try await ann.setStatus("here")
                let counted = try await messaging.client.request(CountMessaging())
                #expect(counted.month == "2026-05" && counted.callLimit == 5 && counted.allCalls == 5)
                #expect(counted.calls["sendMessage"] == 1 && counted.calls["getMessage"] == 2)
                #expect(counted.calls["sendStatus"] == 1 && counted.calls["others"] == 1)
                let health = try await messaging.client.request(CheckHealth())
                #expect(health.parts["calls"]?.status == .overloaded)
            }
            try await RunningMessaging.with(in: folder, database: database, clock: clock) { messaging in
                let counted = try await messaging.client.request(CountMessaging())
                #expect(counted.allCalls == 5 && counted.callLimit == nil && counted.now == clock.now)
                #expect(counted.pictures == 0 && counted.reports == 0)
            }
        }
    }
}
