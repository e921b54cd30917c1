import Foundation
import Schemas
import TestSupport
import Testing
import Base

/// A clock that is set back and soon forward again, as by an operator who corrects a mistake.
@Suite("Clock set back and forward", .timeLimit(.minutes(10)), .enabled(if: FakeClock.isPossible))
struct ClockSetBackAndForwardTests {
    @Test("A message that one process is relaying is not relayed by another one, which had nothing to do in between")
    func leases() async throws {
        try await withTemporaryFolder { folder in
            let clock = try FakeClock(in: folder)
            let gate = Gate()
            let slow = ObjectID()
            let relay = RelayDouble { command in
                if command.msiKey == slow { await gate.pass() }
                return command.components.map(\.accepted)
            }
            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, named: "first", settings: clock.settings) { first in
                    try await RunningMessageLog.with(in: folder, named: "second", settings: clock.settings) { second in
                        // Both have seen the right time.
                        for log in [first, second] {
                            let key = try await log.log(.sample()).msiKey
                            _ = try await log.wait(for: key) { $0.state == .relayed }
                        }
                        try clock.set(ahead: -3_600)
                        try await Self.pauseAfterStep()
                        let held = LogMessage.sample(msiKey: slow, timestamp: .now - 3_600_000, lifetime: 7_200_000)
                        try await Self.log(held, in: first)
                        try await eventually { relay.asked(slow).count == 1 }
                        try clock.set(ahead: 0)
                        try await Self.pauseAfterStep()
                        // The second process claims, as soon as this is due.
                        let now = UnixMilliseconds.now
                        let later = LogMessage.sample(timestamp: now, sendAt: now + 200)
                        try await Self.log(later, in: second)
                        _ = try await second.wait(for: later.msiKey) { $0.state == .relayed }
                        gate.open()
                        let record = try await first.wait(for: slow) { $0.state == .relayed }
                        #expect(record.attempts == 1)
                        #expect(relay.asked(slow).count == 1)
                    }
                }
            }
        }
    }

    /// Logs a message, once. A process that a busy machine has kept from looking at its clock still refuses requests.
    private static func log(_ command: LogMessage, in log: RunningMessageLog) async throws {
        try await eventually("it is logged") { (try? await log.log(command)) != nil }
    }

    /// A process looks at its clock once a second, and refuses requests for half a second after a jump ahead.
    private static func pauseAfterStep() async throws {
        try await Task.sleep(for: .milliseconds(1_700))
    }
}
