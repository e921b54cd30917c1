import Testing

@testable import Chaos

/// How long items have been due, with the test's clocks.
@Suite("Items that are due")
struct DueTimesTests {
    private static let start = ContinuousClock.now

    @Test("An item is overdue if it has been due for longer than the limit, not while its next attempt is in the future")
    func overdue() {
        var due = DueTimes<String>()
        func isOverdue(at seconds: Int) -> Bool { due.isOverdue("a", by: .seconds(60), now: Self.start + .seconds(seconds)) }
        #expect(!isOverdue(at: 1_000), "unknown")
        // It is due after 300 s.
        for seconds in stride(from: 0, through: 360, by: 10) {
            due.note("a", due: 300_000, wall: Int64(seconds) * 1_000, now: Self.start + .seconds(seconds))
            #expect(!isOverdue(at: seconds))
        }
        #expect(isOverdue(at: 361))
        due.note("a", due: 360_000, wall: 361_000, now: Self.start + .seconds(361))
        #expect(!isOverdue(at: 421), "it was tried again")
        #expect(isOverdue(at: 422))
    }

    @Test("A step of the machine's clock makes no item overdue")
    func clockStep() {
        var due = DueTimes<String>()
        due.note("a", due: 10_000, wall: 0, now: Self.start)
        due.note("a", due: 10_000, wall: 3_600_000, now: Self.start + .seconds(1))
        #expect(!due.isOverdue("a", by: .seconds(60), now: Self.start + .seconds(2)))
    }
}
