import Testing

@testable import Base

@Suite("Waiting for another thread", .timeLimit(.minutes(10)))
struct LatchTests {
    @Test("A wait ends when the latch is opened, and every later one at once")
    func opened() throws {
        let latch = Latch()
        try DedicatedThread.start { latch.open() }
        for _ in 0..<2 { #expect(latch.wait(for: .seconds(120))) }
    }

    @Test("A wait for nothing ends after its limit")
    func limit() {
        let latch = Latch()
        let time = ContinuousClock().measure { #expect(!latch.wait(for: .milliseconds(1_100))) }
        #expect(time >= .milliseconds(1_100))
    }
}
