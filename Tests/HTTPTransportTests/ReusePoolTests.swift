import Testing

@testable import HTTPTransport

@Suite("Spare pool")
struct ReusePoolTests {
    private let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("The pool keeps the maximum that was in use in the last period, and the last used object is taken first")
    func kept() {
        var pool = ReusePool<Int>(period: .seconds(10), at: start)
        let made = (0..<5).map { pool.take() ?? $0 }
        #expect(made == [0, 1, 2, 3, 4])
        for item in made { pool.giveBack(item) }
        let early = pool.unneeded(at: at(9))
        #expect(early.isEmpty)
        let needed = pool.unneeded(at: at(10))
        #expect(needed.isEmpty, "five were in use")
        let first = pool.take()
        let second = pool.take()
        #expect([first, second] == [4, 3])
        pool.giveBack(4)
        let unneeded = pool.unneeded(at: at(20))
        #expect(unneeded == [0, 1, 2], "two were in use, and one still is")
        #expect(pool.inUse == 1)
        let third = pool.take()
        let fourth = pool.take()
        #expect(third == 4)
        #expect(fourth == nil)
    }

    @Test("After a period without use, nothing is kept")
    func unused() {
        var pool = ReusePool<Int>(period: .seconds(10), at: start)
        let none = pool.take()
        #expect(none == nil)
        pool.giveBack(7)
        let needed = pool.unneeded(at: at(10))
        #expect(needed.isEmpty)
        let unneeded = pool.unneeded(at: at(20))
        #expect(unneeded == [7])
        let rest = pool.takeOutAll()
        #expect(rest.isEmpty)
    }

    @Test("An object that could not be made does not count as in use")
    func failure() {
        var pool = ReusePool<Int>(period: .seconds(10), at: start)
        let none = pool.take()
        #expect(none == nil)
        pool.gotNone()
        #expect(pool.inUse == 0)
    }
}
