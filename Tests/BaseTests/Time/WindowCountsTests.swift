import Base
import Testing

@Suite("Counts within windows of time")
struct WindowCountsTests {
    private let start = ContinuousClock.now

    @Test("A key at its maximum waits for the end of the window, which is the same for all keys")
    func window() {
        var counts = WindowCounts<String>(.seconds(60), max: 2)
        #expect(counts.wait(of: "a", now: start) == .zero)
        counts.count("a", now: start)
        counts.count("a", now: start + .seconds(10))
        counts.count("b", now: start + .seconds(50))
        #expect(counts.wait(of: "a", now: start + .seconds(20)) == .seconds(40))
        #expect(counts.wait(of: "b", now: start + .seconds(50)) == .zero)
        #expect(counts.wait(of: "a", now: start + .seconds(60)) == .zero)
        // The next window begins with the next event.
        counts.count("b", now: start + .seconds(100))
        counts.count("b", now: start + .seconds(100))
        #expect(counts.wait(of: "b", now: start + .seconds(159)) == .seconds(1))
        #expect(counts.wait(of: "a", now: start + .seconds(100)) == .zero)
    }

    @Test("A question may have another maximum, and a clock that is set back begins another window")
    func maximum() {
        var counts = WindowCounts<String>(.seconds(60))
        for _ in 0..<2 { counts.count("a", now: start) }
        #expect(counts.wait(of: "a", now: start) == .zero)
        #expect(counts.wait(of: "a", max: 2, now: start + .seconds(1)) == .seconds(59))
        #expect(counts.wait(of: "a", max: 3, now: start + .seconds(1)) == .zero)
        #expect(counts.wait(of: "a", max: 2, now: start - .seconds(3_600)) == .zero)
        counts.count("a", now: start - .seconds(3_600))
        #expect(counts.wait(of: "a", max: 1, now: start - .seconds(3_599)) == .seconds(59))
    }

    @Test("An event that is taken back leaves room for another one, and none is taken back twice")
    func uncount() {
        var counts = WindowCounts<String>(.seconds(60), max: 1)
        counts.count("a", now: start)
        #expect(counts.wait(of: "a", now: start) == .seconds(60))
        counts.uncount("a")
        counts.uncount("a")
        #expect(counts.wait(of: "a", now: start) == .zero)
        counts.count("a", now: start)
        #expect(counts.wait(of: "a", now: start) == .seconds(60))
    }
}
