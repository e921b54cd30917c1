import Testing

@testable import MessageLog

@Suite("Outbox state machine")
struct OutboxStateMachineTests {
    private var outbox = OutboxStateMachine(capacity: 4)

    @Test("it looks at once, then once a second")
    mutating func rhythm() {
        #expect(outbox.next(at: 100) == .claim(limit: 4))
        outbox.claimed(0, of: 4, at: 100)
        #expect(outbox.next(at: 100) == .wait(until: 1_100))
        #expect(outbox.next(at: 1_100) == .claim(limit: 4))
        outbox.claimFailed(at: 1_100)
        #expect(outbox.next(at: 1_100) == .wait(until: 2_100))
    }

    @Test("it never has more messages under way than its capacity, however they come")
    mutating func capacity() {
        let first = outbox.reserve()
        #expect(first)
        #expect(outbox.next(at: 0) == .claim(limit: 3))
        outbox.claimed(3, of: 3, at: 0)
        let fifth = outbox.reserve()
        #expect(!fifth)
        #expect(outbox.next(at: 0) == .wait(until: 1_000))
        outbox.finished(.answered, at: 10)
        // The last claim was full, so there may be more.
        #expect(outbox.next(at: 10) == .claim(limit: 1))
        outbox.cancelReservation()
        #expect(outbox.inFlight == 2)
    }

    @Test("a message that was logged without a place is looked for at once")
    mutating func logged() {
        outbox.claimed(0, of: 4, at: 0)
        outbox.logged(at: 5)
        #expect(outbox.next(at: 5) == .claim(limit: 4))
    }

    @Test("while no relay answers, it tries with one message at a time, less and less often, and opens up with an answer")
    mutating func away() {
        outbox.claimed(3, of: 4, at: 0)
        // Three that were under way together fail together: one failure.
        for _ in 0..<3 { outbox.finished(.unanswered, at: 10) }
        let meanwhile = outbox.reserve()
        #expect(!meanwhile)
        #expect(outbox.next(at: 10) == .wait(until: 110))
        var now: Int64 = 110
        var pauses: [Int64] = []
        for _ in 0..<6 {
            #expect(outbox.next(at: now) == .claim(limit: 1))
            outbox.claimed(1, of: 1, at: now)
            outbox.finished(.unanswered, at: now)
            guard case .wait(let until) = outbox.next(at: now) else { break }
            pauses.append(until - now)
            now = until
        }
        #expect(pauses == [200, 400, 800, 1_600, 2_000, 2_000])
        outbox.claimed(1, of: 1, at: now)
        outbox.finished(.answered, at: now)
        #expect(outbox.next(at: now) == .claim(limit: 4))
        let afterwards = outbox.reserve()
        #expect(afterwards)
    }
}
