import Schemas
import StoreHealth
import Synchronization
import Testing

@Suite("Health of writes")
struct WriteHealthTests {
    @Test("A small write is tried only if none has ended for ten seconds, and once in ten seconds however many ask")
    func trials() async {
        let health = WriteHealth()
        let tried = Mutex(0)
        @Sendable func ask(_ times: Int, after seconds: Int, from start: ContinuousClock.Instant) async -> [PartHealth] {
            await withTaskGroup(of: PartHealth.self) { group in
                for _ in 0..<times {
                    group.addTask {
                        await health.current(at: start + .seconds(seconds)) {
                            tried.withLock { $0 += 1 }
                            health.ended(CommandFailure(.storageFull, "full"))
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        let start = ContinuousClock.now
        health.ended(nil)
        #expect(await ask(20, after: 5, from: start) == Array(repeating: .ok, count: 20) && tried.withLock(\.self) == 0)
        let full = PartHealth(.storageFull, "full")
        #expect(await ask(20, after: 12, from: start) == Array(repeating: full, count: 20) && tried.withLock(\.self) == 1)
        // The outcome of a real write replaces that of a trial, and the next trial waits for its turn.
        health.ended(nil)
        #expect(await ask(20, after: 20, from: start) == Array(repeating: .ok, count: 20) && tried.withLock(\.self) == 1)
        #expect(await ask(1, after: 23, from: start) == [full] && tried.withLock(\.self) == 2)
    }
}
