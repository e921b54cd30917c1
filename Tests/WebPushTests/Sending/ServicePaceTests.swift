import Base
import Schemas
import Testing

@testable import WebPush

@Suite("The pace of a push service")
struct ServicePaceTests {
    private typealias Pace = ServicePace<Int>

    private static let start = ContinuousClock.now
    private static let error = DeliveryError(.network)

    private func at(_ seconds: Double) -> ContinuousClock.Instant { Self.start + .seconds(seconds) }

    private func sent(_ decisions: [Pace.Decision]) -> [Int] {
        var waiters: [Int] = []
        for case .go(let waiter) in decisions { waiters.append(waiter) }
        return waiters
    }

    private func refused(_ decisions: [Pace.Decision]) -> [Int: Pace.Refusal] {
        var refusals: [Int: Pace.Refusal] = [:]
        for case .refuse(let waiter, let refusal) in decisions { refusals[waiter] = refusal }
        return refusals
    }

    /// Takes turns until there are no more.
    private func fill(_ pace: inout Pace, at now: ContinuousClock.Instant) -> Int {
        var count = 0
        while pace.tryTakeTurn(at: now) { count += 1 }
        return count
    }

    /// Ends requests that began at the start.
    private func end(_ pace: inout Pace, _ count: Int, _ lesson: PushAnswer.Lesson, at now: ContinuousClock.Instant) {
        for _ in 0..<count { _ = pace.ended(lesson, begun: Self.start, at: now) }
    }

    @Test("The number of requests doubles with each round of answers, up to 200")
    func slowStart() {
        var pace = Pace()
        var rounds = [fill(&pace, at: at(0))]
        for _ in 0..<6 {
            for _ in 0..<pace.inFlight {
                _ = pace.ended(.accepted, begun: at(0), at: at(0))
                _ = fill(&pace, at: at(0))
            }
            rounds.append(pace.inFlight)
        }
        #expect(rounds == [10, 20, 40, 80, 160, 200, 200])
    }

    @Test("A failing service gets half as many requests, once for each round, and slowly more when it works again")
    func failures() {
        var pace = Pace()
        let first = fill(&pace, at: at(0))
        end(&pace, first, .failed(Self.error), at: at(1))
        #expect(pace.limit == 5)
        for round in 1...5 {
            let begin = at(Double(round))
            guard pace.tryTakeTurn(at: begin) else { break }
            _ = pace.ended(.failed(Self.error), begun: begin, at: at(Double(round) + 0.5))
        }
        #expect(pace.limit == 1)
        for _ in 0..<20 {
            let count = fill(&pace, at: at(10))
            for _ in 0..<count { _ = pace.ended(.accepted, begun: at(10), at: at(10)) }
        }
        #expect((9...30).contains(pace.limit))
    }

    @Test("Urgent pushes overtake the others that wait")
    func urgent() {
        var pace = Pace()
        _ = fill(&pace, at: at(0))
        let first = pace.ask(1, isUrgent: false, by: at(9), at: at(0))
        let second = pace.ask(2, isUrgent: false, by: at(9), at: at(0))
        let third = pace.ask(3, isUrgent: true, by: at(9), at: at(0))
        #expect(sent(first + second + third).isEmpty && pace.waiting == 3)
        let next = pace.ended(.inconclusive, begun: at(0), at: at(1))
        #expect(sent(next) == [3])
        let last = pace.ended(.inconclusive, begun: at(0), at: at(1))
        #expect(sent(last) == [1])
    }

    @Test("A push gives up waiting at its deadline")
    func deadline() {
        var pace = Pace()
        _ = fill(&pace, at: at(0))
        _ = pace.ask(1, isUrgent: false, by: at(2), at: at(0))
        _ = pace.ask(2, isUrgent: false, by: at(1), at: at(0))
        #expect(pace.nextMoment(at: at(0)) == at(1))
        let late = pace.advance(at: at(1))
        #expect(refused(late) == [2: .tooMuch])
        #expect(pace.nextMoment(at: at(1)) == at(2))
        let tooLate = pace.ask(3, isUrgent: true, by: at(1), at: at(1))
        #expect(refused(tooLate) == [3: .tooMuch])
    }

    @Test("One request for a pause is about its subscription; five in a row pause the service")
    func throttled() {
        var pace = Pace()
        _ = fill(&pace, at: at(0))
        end(&pace, 4, .throttled(5_000), at: at(0))
        end(&pace, 1, .answered, at: at(0))
        end(&pace, 4, .throttled(5_000), at: at(0))
        #expect(pace.pause(at: at(0)) == nil)
        _ = pace.ask(1, isUrgent: false, by: at(4), at: at(0))
        // The limit has become smaller, so nothing has its turn yet.
        _ = pace.ask(2, isUrgent: false, by: at(20), at: at(0))
        #expect(pace.waiting == 2)
        let paused = pace.ended(.throttled(5_000), begun: at(0), at: at(0))
        #expect(refused(paused) == [1: .paused(.seconds(5))])
        let early = pace.ask(3, isUrgent: true, by: at(3), at: at(1))
        #expect(refused(early) == [3: .paused(.seconds(4))])
        #expect(pace.nextMoment(at: at(1)) == at(5))
        let after = pace.advance(at: at(5))
        #expect(sent(after) == [2])
        #expect(pace.nextMoment(at: at(5)) == nil)
    }

    @Test("A service that refuses the hub's pushes gets none, but one a minute, until it accepts one")
    func refusing() {
        var pace = Pace()
        _ = fill(&pace, at: at(0))
        end(&pace, 4, .refused("403"), at: at(0))
        #expect(pace.refusing == nil)
        _ = fill(&pace, at: at(0))
        _ = pace.ask(1, isUrgent: true, by: at(20), at: at(0))
        let stopped = pace.ended(.refused("403"), begun: at(0), at: at(1))
        #expect(refused(stopped) == [1: .refusing("403", .seconds(60))])
        #expect(pace.refusing == "403")
        end(&pace, 9, .inconclusive, at: at(0))
        // Those were sent before, and say nothing, so the next one may find out.
        let taken = fill(&pace, at: at(2))
        #expect(taken == 1)
        let early = pace.ask(2, isUrgent: true, by: at(20), at: at(2))
        #expect(refused(early) == [2: .refusing("403", .seconds(60))])
        let again = pace.ended(.refused("401"), begun: at(2), at: at(3))
        #expect(again.isEmpty && pace.refusing == "401")
        let probe = fill(&pace, at: at(63))
        #expect(probe == 1)
        let accepted = pace.ended(.accepted, begun: at(63), at: at(64))
        #expect(accepted.isEmpty && pace.refusing == nil)
        let more = fill(&pace, at: at(64))
        #expect(more >= 10)
    }

    @Test("A single refused push is about the hub if no other one is under way")
    func refusedAlone() {
        var pace = Pace()
        let isTaken = pace.tryTakeTurn(at: at(0)) && pace.tryTakeTurn(at: at(0))
        #expect(isTaken)
        _ = pace.ended(.refused("403"), begun: at(0), at: at(1))
        #expect(pace.refusing == nil)
        _ = pace.ended(.refused("403"), begun: at(0), at: at(1))
        #expect(pace.refusing == "403")
    }

    @Test("While the service accepts pushes, a few refusals are about their subscriptions")
    func refusedSubscriptions() {
        var pace = Pace()
        for round in 0..<10 {
            let begin = at(Double(round))
            _ = fill(&pace, at: begin)
            _ = pace.ended(.accepted, begun: begin, at: begin)
            for _ in 0..<4 { _ = pace.ended(.refused("403"), begun: begin, at: begin) }
        }
        #expect(pace.refusing == nil)
        _ = fill(&pace, at: at(10))
        end(&pace, 1, .refused("403"), at: at(10))
        #expect(pace.refusing == "403")
    }

    @Test("Nothing waits for a service that does not answer, or while the process stops")
    func stopped() {
        var pace = Pace()
        _ = fill(&pace, at: at(0))
        _ = pace.ask(1, isUrgent: false, by: at(9), at: at(0))
        let open = pace.circuitOpened(Self.error)
        #expect(refused(open) == [1: .circuitOpen(Self.error)])
        _ = pace.ask(2, isUrgent: false, by: at(9), at: at(0))
        let stopped = pace.stop()
        #expect(refused(stopped) == [2: .stopped])
        let later = pace.ask(3, isUrgent: true, by: at(9), at: at(0))
        #expect(refused(later) == [3: .stopped])
        let isTaken = pace.tryTakeTurn(at: at(9))
        #expect(!isTaken)
    }
}
