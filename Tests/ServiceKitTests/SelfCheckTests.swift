import Bus
import Schemas
import Synchronization
import TestSupport
import Testing

@testable import ServiceKit

/// How a service finds out that it is stuck.
@Suite("Self-checks", .timeLimit(.minutes(10)))
struct SelfCheckTests {
    /// A store whose writer may hang.
    private final class Store: CheckedStore {
        private let health = Mutex(PartHealth.ok)

        var writes: PartHealth {
            get { health.withLock(\.self) }
            set { health.withLock { $0 = newValue } }
        }

        func check() async throws {}
        func writeHealth() async -> PartHealth { writes }
    }

    private func withCheck(
        of store: Store, patience: Duration = .seconds(60), _ body: (SelfCheckRun) async throws -> Void
    ) async throws {
        try await withBus { bus in
            let server = try CommandServer(
                bus: bus, endpoint: "tcp://127.0.0.1:0", router: CommandRouter(stores: [store]), logger: quietLogger)
            let running = Task { try await server.run() }
            defer { running.cancel() }
            try await body(SelfCheckRun(.commands(of: server, bus: bus, logger: quietLogger, patience: patience)))
        }
    }

    @Test("A service whose parts all answer is well; one whose writer hangs is stuck, until it does not hang any more")
    func writer() async throws {
        let store = Store()
        try await withCheck(of: store, patience: .zero) { check in
            let state = try await check.state()
            #expect(state.trouble == nil)
            store.writes = PartHealth(.deadlineExceeded, "a write to cube.sqlite has not ended for 12 s")
            await #expect {
                _ = try await check.state()
            } throws: { error in
                (error as? StuckService)?.parts == ["store": store.writes]
                    && "\(error)"
                        == "the service does not answer itself: store; store: a write to cube.sqlite has not ended for 12 s"
            }
            // A store that is locked or full is not a reason for a restart.
            for writes in [PartHealth(.unavailable, "the database is locked"), PartHealth(.storageFull, "the disk is full")] {
                store.writes = writes
                let state = try await check.state()
                #expect(state.status == writes.status)
            }
            store.writes = .ok
            let later = try await check.state()
            #expect(later.trouble == nil)
        }
    }

    @Test("A service whose writer takes long is not well, and is not stuck before a while")
    func slowWriter() async throws {
        let store = Store()
        store.writes = PartHealth(.deadlineExceeded, "a write to cube.sqlite has not ended for 12 s")
        try await withCheck(of: store) { check in
            let state = try await check.state()
            #expect(state.status == .deadlineExceeded && state.parts["store"] == store.writes)
        }
    }

    @Test("A part that does not answer is named, with the time since it was asked, and is not asked again until it answers")
    func silent() async throws {
        let asked = Mutex(0)
        let (stream, release) = AsyncStream<Void>.makeStream()
        let check = try SelfCheckRun(
            SelfCheck {
                [
                    .sharedThreads,
                    SelfCheck.Step("loop") {
                        asked.withLock { $0 += 1 }
                        for await _ in stream {}
                        return .ok
                    },
                ]
            }, timeout: .seconds(1))
        let start = ContinuousClock.now
        for _ in 0..<10 {
            await #expect {
                _ = try await check.state()
            } throws: { error in
                let parts = (error as? StuckService)?.parts ?? [:]
                return parts["loop"]?.status == .deadlineExceeded
                    && parts["loop"]?.message?.wholeMatch(of: /no answer for \d+ s/) != nil
            }
        }
        #expect(asked.withLock(\.self) == 1)
        // After the first time-out, the others have waited for nothing.
        #expect(ContinuousClock.now - start < .seconds(60))
        release.finish()
        try await eventually { (try? await check.state()) == .ok }
        #expect(asked.withLock(\.self) >= 2)
    }

    @Test("A service that cannot work without a part says so once")
    func trouble() {
        let parts = ["store": PartHealth(.deadlineExceeded, "a write hangs"), "fcm": PartHealth(.unavailable, "no\nkey")]
        #expect(PartHealth(ServiceHealth(parts: parts)).trouble == "fcm: no key; store: a write hangs")
        #expect(PartHealth(.unavailable, "no database", parts: parts).trouble?.hasPrefix("no database; fcm: ") == true)
        #expect(PartHealth(.unavailable).trouble == "unavailable" && PartHealth.ok.trouble == nil)
    }
}
