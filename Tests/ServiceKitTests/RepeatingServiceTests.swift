import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Base

@testable import ServiceKit

@Suite("Repeating service", .timeLimit(.minutes(10)))
struct RepeatingServiceTests {
    private struct Away: Error {}

    @Test("Work that fails is tried again; the log says so once, and once that it works again")
    func failures() async throws {
        let log = RecordedLog()
        let runs = Mutex(0)
        let service = RepeatingService(
            every: .milliseconds(1), retries: Backoff(first: .milliseconds(1), max: .milliseconds(4)),
            outage: OutageLog("it fails", logger: log.logger)
        ) {
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            if (2...6).contains(run) { throw Away() }
        }
        let running = Task { await service.run() }
        try await eventually("it runs again and again") { runs.withLock { $0 >= 9 } }
        running.cancel()
        await running.value
        #expect(log.louderThanDebug.map { $0.hasPrefix("over: it fails") } == [false, true], "\(log.louderThanDebug)")
    }

    @Test("A failure that is logged elsewhere is logged at debug only")
    func loggedElsewhere() async throws {
        let log = RecordedLog()
        let runs = Mutex(0)
        let outage = OutageLog("it fails", logger: log.logger) { $0 is Away }
        let service = RepeatingService(every: .milliseconds(1), outage: outage, from: ()) { _ in
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            if run <= 2 { throw Away() }
            return .after(.zero)
        }
        let running = Task { await service.run() }
        try await eventually("it works again") { runs.withLock { $0 >= 4 } }
        running.cancel()
        await running.value
        #expect(log.louderThanDebug.isEmpty && !log.lines.isEmpty)
        #expect(!outage.isOngoing)
    }

    @Test("A run begins with the state that the last one has left; a service whose work is done stays until it is stopped")
    func state() async throws {
        let seen = Mutex<[Int]>([])
        let hasReturned = Mutex(false)
        let service = RepeatingService(
            every: .milliseconds(1), outage: OutageLog("it fails", logger: quietLogger), from: 0
        ) { number in
            number += 1
            if number == 2 { throw Away() }
            seen.withLock { [number] in $0.append(number) }
            return number == 4 ? .never : .after(.zero)
        }
        let running = Task {
            await service.run()
            hasReturned.withLock { $0 = true }
        }
        try await eventually("the last run") { seen.withLock { $0.last == 4 } }
        #expect(hasReturned.withLock { !$0 })
        running.cancel()
        await running.value
        #expect(seen.withLock { $0 == [1, 3, 4] })
    }

    @Test(
        "A graceful stop ends it while it works, while it waits for its next run, after a failure, and when its work is done",
        arguments: [nil, .periodic, .after(.seconds(3_600)), .never] as [NextRun?], [false, true])
    func stop(next: NextRun?, isWorking: Bool) async throws {
        let hasBegun = Mutex(false)
        let service = RepeatingService(
            every: .seconds(3_600), outage: OutageLog("it fails", logger: quietLogger), from: ()
        ) { _ in
            hasBegun.withLock { $0 = true }
            if isWorking { try await Task.sleep(for: .seconds(3_600)) }
            guard let next else { throw Away() }
            return next
        }
        let group = ServiceGroup(configuration: .init(services: [service], logger: quietLogger))
        let running = Task { try await group.run() }
        try await eventually("the first run") { hasBegun.withLock { $0 } }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    @Test("The pauses grow with each failure, and are short again after a success")
    func pauses() async throws {
        let runs = Mutex<[ContinuousClock.Instant]>([])
        // A third failure without a success before it would end the test.
        let service = RepeatingService(
            every: .milliseconds(1), retries: Backoff(first: .milliseconds(1), factor: 500, max: .seconds(3_600)),
            outage: OutageLog("it fails", logger: quietLogger), from: ()
        ) { _ in
            let run = runs.withLock { runs in
                runs.append(.now)
                return runs.count
            }
            if run.isMultiple(of: 3) { return .after(.zero) }
            throw Away()
        }
        let running = Task { await service.run() }
        try await eventually("six runs") { runs.withLock { $0.count >= 6 } }
        running.cancel()
        await running.value
        let moments = runs.withLock { $0 }
        // A busy machine makes them longer, never shorter.
        for second in [1, 4] { #expect(moments[second + 1] - moments[second] >= .milliseconds(500)) }
    }

    @Test("Periodic work runs at the multiples of its period, however long it takes") func period() async throws {
        let period = Duration.milliseconds(200)
        let clock = ContinuousClock()
        let runs = Mutex<[Duration]>([])
        let service = RepeatingService(every: period, outage: OutageLog("it fails", logger: quietLogger)) {
            runs.withLock { $0.append(clock.now - clock.systemEpoch) }
        }
        let running = Task { await service.run() }
        try await eventually("five runs") { runs.withLock { $0.count >= 5 } }
        running.cancel()
        await running.value
        // Each run but the first one is in another period than the one before.
        let numbers = runs.withLock { $0 }.dropFirst().map { $0 / period }.map { Int($0 + 0.1) }
        #expect(Set(numbers).count == numbers.count, "\(numbers)")
    }
}
