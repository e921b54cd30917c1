import Archive
import Base
import Foundation
@testable import MessageLog
import Schemas
import TestSupport
import Testing

/// A clock that is set back must not make earlier waits longer.
@Suite("Clock set back", .timeLimit(.minutes(10)))
struct ClockSetBackTests {
    private static let hour = Milliseconds.seconds(3_600)

    @Test("A step of the clock is distinguished from its run and from a gradual adjustment")
    func steps() {
        let start = ContinuousClock.now
        var clock = ClockSteps(wall: 1_000, monotonic: start)
        let hour: UnixMilliseconds = 3_600_000
        let readings: [(wall: UnixMilliseconds, monotonic: Duration)] = [
            (2_000, .seconds(1)), (2_900, .seconds(2)), (hour, .seconds(3)), (4_000, .seconds(4)), (5_000, .seconds(5)),
        ]
        let steps = readings.map { clock.step(wall: $0.wall, monotonic: start + $0.monotonic) }
        #expect(steps == [0, 0, 3_596_100, -3_597_000, 0])
    }

    @Test("After a step back, leases and retries keep their lengths, and scheduled messages keep their times")
    func waits() {
        let now: UnixMilliseconds = 36_000_000
        func capped(_ record: RelayRecord, sendAt: UnixMilliseconds? = nil) -> RelayRecord {
            var record = record
            record.capWait(at: now, notBefore: sendAt, schedule: RetrySchedule())
            return record
        }
        let leased = capped(RelayRecord(logged: .alert, due: now, lease: Lease(owner: "o", until: now + Self.hour)))
        #expect(leased.lease == Lease(owner: "o", until: now + Lease.duration) && leased.nextAttempt == now + Lease.duration)
        // The clock of the machine that took it may be five seconds ahead.
        for ahead in [0, 5_000] as [Milliseconds] {
            let valid = RelayRecord(logged: .alert, due: now, lease: Lease(owner: "o", until: now + Lease.duration + ahead))
            #expect(capped(valid) == valid)
        }
        let invalid = RelayRecord(logged: .alert, due: now, lease: Lease(owner: "o", until: now + Lease.duration + 5_001))
        #expect(capped(invalid).lease?.until == now + Lease.duration)

        let new = RelayRecord(logged: .alert, due: now + Self.hour)
        #expect(capped(new).nextAttempt == now)
        #expect(capped(new, sendAt: now + Self.hour) == new)

        var retrying = RelayRecord(logged: .information, due: now + Self.hour)
        (retrying.state, retrying.attempts) = (.retrying, 1)
        #expect(capped(retrying).nextAttempt == now + 12_000)
        retrying.components[0].error = DeliveryError(
            class: .retryable, code: "QUOTA_EXCEEDED", message: "-", retryAfter: Self.hour * 2)
        #expect(capped(retrying) == retrying, "as FCM asks for")
        var relayed = retrying
        (relayed.state, relayed.nextAttempt) = (.relayed, nil)
        #expect(capped(relayed) == relayed)
    }

    @Test("Waits from before the start are shortened")
    func adjustment() async throws {
        try await withArchive { store in
            let message = Message.sample()
            _ = try await store.insert(message)
            let due = UnixMilliseconds.now + Self.hour
            try await store.update(message.msiKey) { record, _ in
                (record.state, record.attempts, record.nextAttempt) = (.retrying, 1, due)
            }
            let adjustment = LeaseAdjustment(store: store, schedule: RetrySchedule(), logger: quietLogger)
            let running = Task { try await adjustment.run() }
            try await eventually { try #require(await store.message(message.msiKey)?.relay.nextAttempt) < .now + 60_000 }
            running.cancel()
            try await running.value
        }
    }

    @Test("A retry that was planned while the clock was an hour ahead comes after its pause", .atLength)
    func retry() async throws {
        try await withTemporaryFolder { folder in
            let clock = try FakeClock(in: folder)
            let gate = Gate()
            let first = First()
            let relay = RelayDouble { command in
                guard first.take() else { return command.components.map(\.accepted) }
                await gate.pass()
                return command.components.map { $0.refused(.retryable, "UNAVAILABLE") }
            }
            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: clock.settings) { log in
                    let key = try await log.log(.sample(lifetime: Self.hour * 3)).msiKey
                    try await eventually { relay.asked(key).count == 1 }
                    try clock.set(ahead: 3_600)
                    gate.open()
                    try await eventually { log.lines("will be tried again") == 1 }
                    // Once a second the service checks whether its clock was set. After a jump ahead it refuses requests
                    // for half a second.
                    try await Task.sleep(for: .milliseconds(1_200))
                    try clock.set(ahead: 0)
                    let record = try await log.wait(for: key) { $0.state == .relayed }
                    #expect(record.attempts == 2)
                    #expect(try #require(record.ended) < .now + 60_000)
                }
            }
        }
    }
}

@Suite("The message log with a clock that differs from the relay's", .timeLimit(.minutes(10)), .enabled(if: FakeClock.isPossible))
struct SkewedClockTests {
    @Test("A message reaches the relay at once", arguments: [-30, 30])
    func delivery(seconds: Int) async throws {
        let relay = RelayDouble()
        try await withTemporaryFolder { folder in
            let clock = try FakeClock(in: folder, ahead: seconds)
            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: clock.settings) { log in
                    let key = try await log.log(.sample()).msiKey
                    let record = try await log.wait(for: key) { $0.state == .relayed }
                    #expect(record.attempts == 1)
                    #expect(relay.asked(key).count == 1)
                }
            }
        }
    }
}
