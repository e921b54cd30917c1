import FoundationEssentials
import Histogram
import Schemas
import Synchronization
import Testing
import TestSupport

@testable import LoadTester

/// A load on targets that the test controls.
@Suite("Load run")
struct LoadRunTests {
    private struct Target: LoadTarget {
        let behaviour: @Sendable (Int) async -> [String]?

        func send(_ index: Int) async -> [String]? { await behaviour(index) }
    }

    private func run(
        rate: Double?, duration: Double, ramp: Double = 0, inFlight: Int = 1_000,
        _ behaviour: @escaping @Sendable (Int) async -> [String]?
    ) async -> (totals: LoadRecorder.Totals, seconds: Double) {
        await LoadRun(
            target: Target(behaviour: behaviour), rate: rate, duration: duration, ramp: ramp, inFlight: inFlight, report: { _ in }
        ).run()
    }

    @Test("Every message of the schedule is sent once, and counted by its answer")
    func counts() async {
        let seen = Mutex<[Int]>([])
        let (totals, seconds) = await run(rate: 1_000, duration: 0.5) { index in
            seen.withLock { $0.append(index) }
            return index % 10 == 0 ? ["fcm A", "fcm B"] : index % 10 == 1 ? ["fcm A"] : nil
        }
        #expect(seen.withLock { $0.sorted() } == Array(0..<500))
        #expect(totals.sent == 500 && totals.accepted == 400 && totals.failed == 100)
        #expect(totals.errors == ["fcm A": 100, "fcm B": 50])
        #expect(totals.latencies.totalCount == 500)
        #expect(totals.intervals.map(\.answered).reduce(0, +) == 500)
        #expect(seconds == 0.5)
    }

    @Test("Latencies count from the due time, so that a stalled target shows in them")
    func coordinatedOmission() async {
        let stall = Mutex<ContinuousClock.Instant?>(nil)
        let (totals, _) = await run(rate: 500, duration: 1, inFlight: 1) { index in
            guard index == 100 else { return nil }
            stall.withLock { $0 = .now }
            try? await Task.sleep(for: .milliseconds(400))
            return nil
        }
        // Two hundred messages were due during the stall. They waited for up to 400 ms.
        let waited = totals.latencies.count(within: 50_000...3_600_000_000)
        #expect(waited > 120, "\(waited)")
        #expect(totals.latencies.valueAtPercentile(100) >= 390_000)
        #expect(totals.maxDelay > 0.3)
    }

    @Test("Messages of the ramp are sent, and are not part of the latencies")
    func ramp() async {
        let (totals, _) = await run(rate: 400, duration: 0.5, ramp: 0.25) { _ in nil }
        #expect(totals.sent == 150)
        #expect(totals.latencies.totalCount == 100)
    }

    @Test("Without a rate, the maximum number of messages is in flight, and never more")
    func closedLoop() async throws {
        let inFlight = Mutex((now: 0, most: 0, sent: 0))
        let target = Target { _ in
            inFlight.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
                state.sent += 1
            }
            // Nothing is answered before the maximum is reached, however busy the machine is.
            try? await eventually("eight messages in flight", every: .milliseconds(5)) { inFlight.withLock { $0.most >= 8 } }
            try? await Task.sleep(for: .milliseconds(5))
            inFlight.withLock { $0.now -= 1 }
            return nil
        }
        let load = LoadRun(target: target, rate: nil, duration: 60, ramp: 0, inFlight: 8, report: { _ in })
        let running = Task { await load.run() }
        try await eventually("more messages than may be in flight") { inFlight.withLock { $0.sent > 8 } }
        running.cancel()
        let (totals, _) = await running.value
        #expect(inFlight.withLock(\.most) == 8)
        #expect(totals.accepted > 8 && totals.accepted == totals.sent)
    }

    @Test("An interrupted load waits for its answers, and reports for how long it sent")
    func cutOff() async throws {
        let sent = Mutex(0)
        let load = LoadRun(
            target: Target { _ in
                sent.withLock { $0 += 1 }
                try? await Task.sleep(for: .milliseconds(100))
                return nil
            }, rate: 200, duration: 60, ramp: 0, inFlight: 1_000, report: { _ in })
        let running = Task { await load.run() }
        try await eventually("twenty messages sent") { sent.withLock { $0 >= 20 } }
        running.cancel()
        let (totals, seconds) = await running.value
        #expect(totals.accepted == totals.sent && totals.sent >= 20)
        #expect(seconds < 30)
    }
}
