import Schemas
import Store
import TestSupport
import Testing

@Suite("Health of writes")
struct WriteHealthTests {
    @Test("A small write is tried only if none has ended for ten seconds, and once in ten seconds however many ask")
    func trials() async throws {
        let disk = FullDisk()
        disk.health.ended(nil)
        let start = ContinuousClock.now
        #expect(try await disk.ask(20, at: start + .seconds(5)) == Array(repeating: .ok, count: 20))
        #expect(disk.trials.count == 0)
        #expect(try await disk.ask(20, at: start + .seconds(12)) == Array(repeating: FullDisk.state, count: 20))
        #expect(disk.trials.count == 1)
        // The outcome of a real write replaces that of a trial, and the next trial waits for its turn.
        disk.health.ended(nil)
        #expect(try await disk.ask(20, at: start + .seconds(20)) == Array(repeating: .ok, count: 20))
        #expect(disk.trials.count == 1)
        #expect(try await disk.ask(1, at: start + .seconds(23)) == [FullDisk.state])
        #expect(disk.trials.count == 2)
    }
}

/// A store that takes no write.
private final class FullDisk: Sendable {
    static let state = PartHealth(.storageFull, "full")

    let health = WriteHealth()
    let trials = Counter()

    /// The answers to this many simultaneous callers.
    func ask(_ count: Int, at time: ContinuousClock.Instant) async throws -> [PartHealth] {
        try await concurrently(count) { _ in
            await self.health.current(at: time) {
                self.trials.add()
                self.health.ended(CommandFailure(.storageFull, "full"))
            }
        }
    }
}
