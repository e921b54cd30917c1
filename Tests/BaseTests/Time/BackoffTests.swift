import Testing
import Base

@Suite("Backoff")
struct BackoffTests {
    @Test("The pause grows by its factor with each failure, up to the maximum")
    func growth() {
        var backoff = Backoff(first: .milliseconds(100), max: .seconds(2))
        let pauses = (0..<7).map { _ in backoff.failed() }
        #expect(pauses == [100, 200, 400, 800, 1_600, 2_000, 2_000].map { .milliseconds($0) })
        #expect(backoff.failures == 7)

        let slow = Backoff(first: .milliseconds(100), factor: 1.5, max: .milliseconds(300))
        #expect((1...5).map { slow.pause(after: $0) } == [100, 150, 225, 300, 300].map { .milliseconds($0) })
        #expect(slow.pause(after: .max) == .milliseconds(300))
    }

    @Test("The pause that follows another one is longer by the factor, from the first to the maximum")
    func following() {
        let backoff = Backoff(first: .seconds(1), max: .seconds(600))
        let pauses = [nil, .zero, .seconds(1), .seconds(4), .seconds(500), .seconds(9_000)].map { backoff.pause(following: $0) }
        #expect(pauses == [1, 1, 2, 8, 600, 600].map { .seconds($0) })
    }

    @Test("A first pause above the maximum is the maximum")
    func shortMaximum() {
        #expect(Backoff(first: .seconds(5), max: .seconds(2)).pause(after: 1) == .seconds(2))
    }

    @Test("A success makes the next failure a first one")
    func success() {
        var backoff = Backoff(first: .seconds(1), max: .seconds(60))
        _ = backoff.failed()
        _ = backoff.failed()
        backoff.succeeded()
        #expect(backoff.failures == 0)
        #expect(backoff.failed() == .seconds(1))
    }

    @Test("Jitter multiplies the pause by a number of its range")
    func jitter() {
        let backoff = Backoff(first: .seconds(10), max: .seconds(600), jitter: 0.8...1.2)
        let pauses = [0, 0.5, 1].map { random in
            var copy = backoff
            return copy.failed(random: random)
        }
        for (pause, expected) in zip(pauses, [8.0, 10, 12]) { #expect(abs(pause / .seconds(1) - expected) < 0.000_001) }
        var random = backoff
        for _ in 0..<100 { #expect((Duration.seconds(8)...(.seconds(721))).contains(random.failed())) }
    }

    @Test("There is no pause that ends after the deadline")
    func deadline() throws {
        var over = Backoff(first: .milliseconds(1), max: .milliseconds(1), deadline: .now)
        #expect(over.nextPause() == nil)
        var open = Backoff(first: .seconds(1), max: .seconds(100), deadline: .now + .seconds(3_600))
        #expect(open.nextPause() == .seconds(1))
        #expect(open.nextPause() == .seconds(2))
        var endless = Backoff(first: .seconds(1), max: .seconds(1))
        #expect(endless.nextPause() == .seconds(1))
    }
}
