import Base
import Testing

@testable import Bus

@Suite("Workers of a server that wait for a request")
struct IdleWorkersTests {
    private typealias Workers = IdleWorkers<Int>

    private static let later = MonotonicMilliseconds(rawValue: Workers.period.rawValue)

    private static func workers(_ count: Int) -> Workers {
        var workers = Workers()
        for worker in 0..<count { workers.add(worker) }
        _ = workers.takeUnneeded(at: 0)
        return workers
    }

    @Test("The one that was busy most recently gets the next request")
    func order() {
        var workers = Self.workers(3)
        #expect(workers.take() == 2)
        workers.add(2)
        #expect(workers.take() == 2)
    }

    @Test("After a burst those end that no request has needed for a while, and a few stay")
    func end() {
        var workers = Self.workers(20)
        let busy = (0..<3).compactMap { _ in workers.take() }
        for worker in busy { workers.add(worker) }
        #expect(workers.takeUnneeded(at: MonotonicMilliseconds(rawValue: Self.later.rawValue - 1)) == [])
        #expect(workers.takeUnneeded(at: Self.later) == Array(0..<12))
        #expect(workers.count == Workers.alwaysKept)
        #expect(workers.takeUnneeded(at: Self.later + Workers.period) == [])
    }

    @Test("Those stay that were needed in the meantime")
    func needed() {
        var workers = Self.workers(20)
        let busy = (0..<15).compactMap { _ in workers.take() }
        for worker in busy { workers.add(worker) }
        #expect(workers.takeUnneeded(at: Self.later).count == 5)
        #expect(workers.count == 15)
    }
}
