import Schemas
import Testing

@testable import MessageLog

@Suite("Outbox state machine")
struct OutboxStateMachineTests {
    private var outbox = OutboxStateMachine(capacity: 4)
    private let keys = (0..<8).map { _ in ObjectID() }

    @Test("it looks at once, then once a second")
    mutating func rhythm() {
        #expect(outbox.next(at: 100) == .claim(limit: 4))
        _ = outbox.claimed([], of: 4, at: 100)
        #expect(outbox.next(at: 100) == .wait(until: 1_100))
        #expect(outbox.next(at: 1_100) == .claim(limit: 4))
        outbox.claimFailed(at: 1_100)
        #expect(outbox.next(at: 1_100) == .wait(until: 2_100))
    }

    @Test("it never has more messages at work than its capacity, however they come")
    mutating func capacity() {
        let first = outbox.reserve(keys[0])
        #expect(first)
        #expect(outbox.next(at: 0) == .claim(limit: 3))
        let claimed = outbox.claimed(Array(keys[1...3]), of: 3, at: 0)
        #expect(claimed == Set(keys[1...3]))
        let fifth = outbox.reserve(keys[4])
        #expect(!fifth)
        #expect(outbox.next(at: 0) == .wait(until: 1_000))
        outbox.finished(.answered, of: keys[1], at: 10)
        // The last claim was full, so there may be more.
        #expect(outbox.next(at: 10) == .claim(limit: 1))
        outbox.cancelReservation(of: keys[0])
        #expect(outbox.atWork == [keys[2], keys[3]])
    }

    @Test("a message that is at work is not taken again, whatever became of its lease")
    mutating func atWork() {
        let first = outbox.reserve(keys[0])
        let again = outbox.reserve(keys[0])
        #expect(first && !again)
        let claimed = outbox.claimed([keys[0], keys[1]], of: 3, at: 0)
        #expect(claimed == [keys[1]])
    }

    @Test("a message that was logged without a place is looked for at once")
    mutating func logged() {
        _ = outbox.claimed([], of: 4, at: 0)
        outbox.logged(at: 5)
        #expect(outbox.next(at: 5) == .claim(limit: 4))
    }

    @Test("while no relay answers, it tries with one message at a time, less and less often, and opens up with an answer")
    mutating func away() {
        _ = outbox.claimed(Array(keys[0..<3]), of: 4, at: 0)
        // Three that were under way together fail together: one failure.
        for key in keys[0..<3] { outbox.finished(.unanswered, of: key, at: 10) }
        let meanwhile = outbox.reserve(keys[3])
        #expect(!meanwhile)
        #expect(outbox.next(at: 10) == .wait(until: 110))
        var now: Int64 = 110
        var pauses: [Int64] = []
        for _ in 0..<6 {
            #expect(outbox.next(at: now) == .claim(limit: 1))
            _ = outbox.claimed([keys[0]], of: 1, at: now)
            outbox.finished(.unanswered, of: keys[0], at: now)
            guard case .wait(let until) = outbox.next(at: now) else { break }
            pauses.append(until - now)
            now = until
        }
        #expect(pauses == [200, 400, 800, 1_600, 2_000, 2_000])
        _ = outbox.claimed([keys[0]], of: 1, at: now)
        outbox.finished(.answered, of: keys[0], at: now)
        #expect(outbox.next(at: now) == .claim(limit: 4))
        let afterwards = outbox.reserve(keys[0])
        #expect(afterwards)
    }

    @Test("a clock that is set back delays it by seconds, not by as much as the clock was off")
    mutating func clockSetBack() {
        _ = outbox.claimed([keys[0]], of: 4, at: 3_600_000)
        outbox.finished(.unanswered, of: keys[0], at: 3_600_000)
        #expect(outbox.next(at: 0) == .wait(until: 2_000))
    }
}
