import Testing

@testable import Base

@Suite("A signal to a waiting thread")
struct WakeUpTests {
    @Test("A wait ends by a signal, even by an earlier one, and otherwise by its limit")
    func waits() throws {
        let wakeUp = try #require(WakeUp())
        let start = ContinuousClock.now
        #expect(!wakeUp.wait(for: .milliseconds(20)))
        #expect(ContinuousClock.now - start >= .milliseconds(20))
        #expect(!wakeUp.wait(for: .zero) && !wakeUp.wait(for: .seconds(-1)))
        wakeUp.signal()
        #expect(wakeUp.wait(for: .seconds(3_600)))
        #expect(!wakeUp.wait(for: .zero))
    }

    @Test("Many signals before a wait are one, and none blocks")
    func manySignals() throws {
        let wakeUp = try #require(WakeUp())
        // More than fit into a pipe.
        for _ in 0..<100_000 { wakeUp.signal() }
        #expect(wakeUp.wait(for: .zero))
        #expect(!wakeUp.wait(for: .zero))
    }

    @Test("A signal of another thread ends a wait")
    func otherThread() async throws {
        let wakeUp = try #require(WakeUp())
        let woken = await withCheckedContinuation { continuation in
            do {
                try DedicatedThread.start { continuation.resume(returning: wakeUp.wait(for: .seconds(60))) }
            } catch {
                continuation.resume(returning: false)
            }
            wakeUp.signal()
        }
        #expect(woken)
    }
}
