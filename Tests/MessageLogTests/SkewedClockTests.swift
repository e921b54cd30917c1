import Schemas
import TestSupport
import Testing

/// A message log on a machine whose clock differs from the relay's.
@Suite("Message log with a skewed clock", .timeLimit(.minutes(1)), .enabled(if: SkewedClock.isPossible))
struct SkewedClockTests {
    @Test("messages reach the relay at once", arguments: [-30, 30])
    func delivery(seconds: Int) async throws {
        let relay = RelayDouble()
        try await withTemporaryFolder { folder in
            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: SkewedClock.environment(seconds: seconds)) { log in
                    let key = try await log.log(.sample()).msiKey
                    let record = try await log.wait(for: key) { $0.state == .relayed }
                    #expect(record.attempts == 1)
                    #expect(relay.asked(key).count == 1)
                }
            }
        }
    }
}
