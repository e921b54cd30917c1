import Schemas
import TestSupport
import Testing

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
