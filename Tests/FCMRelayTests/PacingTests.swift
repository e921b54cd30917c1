import Schemas
import Testing
import Base

@testable import FCMRelay

/// When a send may go out, with a test clock.
@Suite("Pacing")
struct PacingTests {
    private typealias Machine = PacingStateMachine<Int>

    private static let start = ContinuousClock.now
    private static let topic = FCMTopic.subject(TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()))

    private static func request(
        _ number: Int, isAlert: Bool = false, topic: FCMTopic = topic, within time: Duration = .seconds(20)
    ) -> Machine.Request {
        Machine.Request(waiter: number, topic: topic, isAlert: isAlert, cost: 1, deadline: start + time)
    }

    private static func gone(_ decisions: [Machine.Decision]) -> [Int] {
        decisions.compactMap { if case .go(let number) = $0 { number } else { nil } }
    }

    private static func refused(_ decisions: [Machine.Decision]) -> [Int: Machine.Refusal] {
        Dictionary(
            uniqueKeysWithValues: decisions.compactMap {
                if case .refuse(let number, let why) = $0 { (number, why) } else { nil }
            })
    }

    @Test("The used part of the quota is that of the last minute's sends, including those that have waited")
    func quotaUsed() {
        var machine = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        #expect(machine.quotaUsed(at: Self.start) == 0)
        let isFirst = machine.tryTakeTurn(to: Self.topic, cost: 2, at: Self.start)
        #expect(isFirst)
        #expect(machine.quotaUsed(at: Self.start + .seconds(1)) == 2.0 / 600)
        let waiting = machine.ask(Self.request(1, within: .seconds(40)), at: Self.start)
        #expect(waiting.isEmpty)
        let later = machine.advance(at: Self.start + .seconds(30))
        #expect(Self.gone(later) == [1])
        #expect(machine.quotaUsed(at: Self.start + .seconds(59)) == 3.0 / 600)
        #expect(machine.quotaUsed(at: Self.start + .seconds(60)) == 1.0 / 600)
        #expect(machine.quotaUsed(at: Self.start + .seconds(3_600)) == 0)
    }

    @Test("A bucket gives out its rate and no more, whatever was saved up")
    func rate() {
        var bucket = TokenBucket(rate: 1_000, ramp: .zero, at: Self.start)
        func taken(from begin: Double, to end: Double) -> Int {
            stride(from: begin, to: end, by: 0.000_5).count { bucket.take(at: Self.start + .seconds($0)) == nil }
        }
        #expect((1_090...1_110).contains(taken(from: 0, to: 1)), "a tenth of a second is saved up")
        #expect((990...1_010).contains(taken(from: 1, to: 2)))
        // Half a minute without traffic is not saved up.
        #expect((1_090...1_110).contains(taken(from: 30, to: 31)))
    }

    @Test("The rate rises evenly to the full rate, and again after a minute without traffic")
    func ramp() {
        var bucket = TokenBucket(rate: 1_000, ramp: .seconds(60), at: Self.start)
        func taken(in second: Int) -> Int {
            stride(from: Double(second), to: Double(second + 1), by: 0.000_5).count {
                bucket.take(at: Self.start + .seconds($0)) == nil
            }
        }
        let counts = (0..<62).map(taken)
        #expect(counts[0] < 60 && (480...540).contains(counts[30]) && (990...1_010).contains(counts[61]))
        #expect(taken(in: 130) < 60)
    }

    @Test("Sends that waited while the process did not run are refused; a late alarm alone is not such a pause")
    func pause() throws {
        var machine = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        #expect(Self.gone(machine.ask(Self.request(0), at: Self.start)) == [0])
        for number in 1...3 { #expect(Self.gone(machine.ask(Self.request(number, isAlert: number == 2), at: Self.start)) == []) }
        let alarm = try #require(machine.nextMoment(at: Self.start))
        #expect(Self.refused(machine.refuseAfterPause(alarm: alarm, at: alarm + .seconds(1))).isEmpty)
        let refused = Self.refused(machine.refuseAfterPause(alarm: alarm, at: alarm + .seconds(12)))
        #expect(refused == [1: .paused, 2: .paused, 3: .paused])
        #expect(machine.advance(at: alarm + .seconds(12)).isEmpty)
        #expect(Self.gone(machine.ask(Self.request(4, within: .seconds(30)), at: alarm + .seconds(12))) == [4])
    }

    @Test("The pace report has the current rate, and how many sends wait for which limit")
    func pace() {
        var machine = Machine(bucket: TokenBucket(rate: 1_000, ramp: .seconds(60), at: Self.start), at: Self.start)
        #expect(
            machine.pace(of: "p", at: Self.start + .seconds(30))
                == ProjectPace(id: "p", rate: 500, fullRate: 1_000, waiting: 0, pausedFor: nil))
        for number in 0..<10 { _ = machine.ask(Self.request(number), at: Self.start) }
        #expect(machine.pace(of: "p", at: Self.start).waiting == 8 && machine.pace(of: "p", at: Self.start).rate == 20)
        _ = machine.projectQuotaExceeded(for: .seconds(5), at: Self.start)
        #expect(machine.pace(of: "p", at: Self.start + .seconds(1)).pausedFor == 4_000)
        #expect(machine.pace(of: "p", at: Self.start + .seconds(6)).pausedFor == nil)
    }

    @Test("Alerts go out before information that came earlier")
    func priority() {
        var machine = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        #expect(Self.gone(machine.ask(Self.request(0), at: Self.start)) == [0])
        #expect(Self.gone(machine.ask(Self.request(1), at: Self.start)) == [])
        #expect(Self.gone(machine.ask(Self.request(2), at: Self.start)) == [])
        #expect(Self.gone(machine.ask(Self.request(3, isAlert: true), at: Self.start)) == [])
        var order: [Int] = []
        var now = Self.start
        while let next = machine.nextMoment(at: now) {
            now = max(next, now + .milliseconds(1))
            order += Self.gone(machine.advance(at: now))
        }
        #expect(order == [3, 1, 2])
        #expect(now - Self.start < .milliseconds(320))
    }

    @Test("Pop-ups go out before the data of alerts that came earlier, and wait only for each other")
    func popUps() {
        var machine = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        let isFree = machine.mustWait(2, at: Self.start)
        #expect(!isFree)
        #expect(Self.gone(machine.ask(Self.request(0), at: Self.start)) == [0])
        let isFull = machine.mustWait(2, at: Self.start)
        #expect(isFull)
        for number in 1...40 {
            let decisions = machine.ask(Self.request(number, isAlert: number.isMultiple(of: 2)), at: Self.start)
            #expect(decisions.isEmpty)
        }
        // In half a second there is time for the pop-ups, and not for the rest.
        for number in [50, 51] {
            var popUp = Self.request(number, isAlert: true, within: .milliseconds(500))
            popUp.isPopUp = true
            #expect(machine.ask(popUp, at: Self.start).isEmpty)
        }
        #expect(machine.pace(of: "p", at: Self.start).waiting == 42)
        var order: [Int] = []
        var now = Self.start
        while order.count < 4, let next = machine.nextMoment(at: now) {
            now = max(next, now + .milliseconds(1))
            order += Self.gone(machine.advance(at: now))
        }
        #expect(order == [50, 51, 2, 4])
    }

    @Test("A send that cannot go out before its deadline is refused at once, with the time to wait")
    func tooMuch() {
        var machine = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        var refusals: [Int: Machine.Refusal] = [:]
        for number in 0..<100 {
            refusals.merge(Self.refused(machine.ask(Self.request(number, within: .seconds(5)), at: Self.start))) { $1 }
        }
        #expect((45...52).contains(100 - refusals.count))
        guard case .tooMuch(let wait)? = refusals[99] else {
            Issue.record("\(refusals)")
            return
        }
        #expect((4.5...5.5).contains(wait / .seconds(1)))
    }

    @Test("A cancelled send leaves the queue at its deadline, even from behind alerts, and does not delay later ones")
    func late() {
        var machine = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        #expect(Self.gone(machine.ask(Self.request(0), at: Self.start)) == [0])
        for number in 1...20 {
            let decisions = machine.ask(Self.request(number, within: .seconds(3)), at: Self.start)
            #expect(decisions.isEmpty)
        }
        // Ten seconds' worth of alerts are queued instead.
        for number in 100..<200 { _ = machine.ask(Self.request(number, isAlert: true), at: Self.start) }
        var refused: [Int: Duration] = [:]
        var now = Self.start
        while now - Self.start < .seconds(3.05), let next = machine.nextMoment(at: now) {
            now = max(next, now + .milliseconds(1))
            for number in Self.refused(machine.advance(at: now)).keys { refused[number] = now - Self.start }
        }
        #expect(refused.keys.sorted() == Array(1...20))
        #expect(refused.values.allSatisfy { $0 < .seconds(3.01) })

        // Only seven seconds' worth of alerts are left.
        let next = Self.refused(machine.ask(Self.request(300, within: .seconds(8)), at: now))
        guard case .tooMuch(let wait)? = next[300] else {
            Issue.record("\(next)")
            return
        }
        #expect((6.5...7.5).contains(wait / .seconds(1)), "\(wait)")
    }

    @Test("A project with an exhausted quota pauses: sends wait or are refused by their deadlines, and then go on")
    func projectPause() {
        var machine = Machine(bucket: TokenBucket(rate: 1_000, ramp: .zero, at: Self.start), at: Self.start)
        _ = machine.projectQuotaExceeded(for: .seconds(10), at: Self.start)
        #expect(
            Self.refused(machine.ask(Self.request(1, within: .seconds(5)), at: Self.start)) == [1: .projectPaused(.seconds(10))])
        #expect(Self.gone(machine.ask(Self.request(2), at: Self.start)) == [])
        #expect(machine.nextMoment(at: Self.start) == Self.start + .seconds(10))
        #expect(Self.refused(machine.projectQuotaExceeded(for: .seconds(30), at: Self.start + .seconds(1))).keys.sorted() == [2])
        #expect(Self.gone(machine.ask(Self.request(3, within: .seconds(90)), at: Self.start + .seconds(2))) == [])
        #expect(Self.gone(machine.advance(at: Self.start + .seconds(31))) == [3])
    }

    @Test("What waits for the quota can be withdrawn by its key, and nothing else")
    func withdrawal() {
        let key = ObjectID()
        var machine = Machine(bucket: TokenBucket(rate: 1_000, ramp: .zero, at: Self.start), at: Self.start)
        _ = machine.projectQuotaExceeded(for: .seconds(10), at: Self.start)
        var (alert, other) = (Self.request(1, isAlert: true), Self.request(2))
        (alert.key, other.key) = (key, ObjectID())
        for request in [alert, other] { _ = machine.ask(request, at: Self.start) }
        let withdrawn = machine.withdraw(key, at: Self.start + .seconds(4))
        #expect(Self.refused(withdrawn.decisions) == [1: .projectPaused(.seconds(6))] && withdrawn.commands == 1)
        let again = machine.withdraw(key, at: Self.start + .seconds(4))
        #expect(again.decisions.isEmpty && again.commands == 0)
        #expect(Self.gone(machine.advance(at: Self.start + .seconds(10))) == [2])
    }

    @Test("A topic with an exhausted quota pauses alone")
    func topicPause() {
        var machine = Machine(bucket: TokenBucket(rate: 1_000, ramp: .zero, at: Self.start), at: Self.start)
        let other = FCMTopic("other")
        _ = machine.topicQuotaExceeded(Self.topic, for: .seconds(10), at: Self.start)
        #expect(Self.refused(machine.ask(Self.request(1), at: Self.start)) == [1: .topicPaused(.seconds(10))])
        #expect(Self.gone(machine.ask(Self.request(2, topic: other), at: Self.start)) == [2])
        #expect(Self.gone(machine.ask(Self.request(3), at: Self.start + .seconds(10))) == [3])
    }

    @Test("A stopped pacer refuses all waiting sends and every later one")
    func stop() async {
        // One send a minute: the second one waits, however long the test takes to get to the stop.
        let pacer = Pacer(rate: 1.0 / 60, ramp: .zero)
        #expect(await pacer.turn(for: Self.topic, isAlert: true, by: .now + .seconds(300)) == nil)
        async let waiting = pacer.turn(for: Self.topic, isAlert: false, by: .now + .seconds(300))
        // It applies to waiting sends and to new ones.
        pacer.stop()
        #expect(await waiting?.code == "STOPPED")
        #expect(await pacer.turn(for: Self.topic, isAlert: true, by: .now + .seconds(60))?.code == "STOPPED")
    }

    @Test("A send that comes too late is refused as one that FCM was not asked about")
    func late() async {
        let pacer = Pacer(rate: 1_000, ramp: .zero)
        let late = await pacer.turn(for: Self.topic, isAlert: true, by: .now - .seconds(1))
        #expect(late?.code == "NO_TIME")
        #expect(late?.isKeptBack == true)
        #expect(!pacer.tryTakeTurn(to: Self.topic, cost: 1, by: .now - .seconds(1)))
    }

    @Test("The fast path lets a send go at once, but never before waiting sends or during a pause")
    func atOnce() {
        let topic = Self.topic
        var free = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        let first = free.tryTakeTurn(to: topic, cost: 1, at: Self.start)
        let second = free.tryTakeTurn(to: topic, cost: 1, at: Self.start)
        #expect([first, second] == [true, false])
        let waiting = free.ask(Self.request(1), at: Self.start)
        #expect(Self.gone(waiting) == [])
        let overtaking = free.tryTakeTurn(to: nil, cost: 1, at: Self.start + .seconds(60))
        #expect(!overtaking)

        var paused = Machine(bucket: TokenBucket(rate: 10, ramp: .zero, at: Self.start), at: Self.start)
        _ = paused.topicQuotaExceeded(topic, for: .seconds(10), at: Self.start)
        let toPaused = paused.tryTakeTurn(to: topic, cost: 1, at: Self.start)
        let toOther = paused.tryTakeTurn(to: nil, cost: 1, at: Self.start)
        #expect([toPaused, toOther] == [false, true])
        _ = paused.projectQuotaExceeded(for: .seconds(10), at: Self.start)
        let byPausedProject = paused.tryTakeTurn(to: nil, cost: 1, at: Self.start + .seconds(9))
        let afterThePause = paused.tryTakeTurn(to: nil, cost: 1, at: Self.start + .seconds(10))
        #expect([byPausedProject, afterThePause] == [false, true])
        _ = paused.stop()
        let afterTheEnd = paused.tryTakeTurn(to: nil, cost: 1, at: Self.start + .seconds(60))
        #expect(!afterTheEnd)
    }

    @Test("A pacer's own alarms let sends go out in time")
    func pace() async {
        let pacer = Pacer(rate: 200, ramp: .zero)
        let start = ContinuousClock.now
        let errors = await withTaskGroup(of: DeliveryError?.self) { group in
            for _ in 0..<100 { group.addTask { await Self.turn(of: pacer) } }
            return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
        #expect(errors.isEmpty)
        // The burst, a tenth of a second's messages, goes out at once. The other eighty go out at two hundred a second.
        #expect(ContinuousClock.now - start >= .milliseconds(350))
    }

    /// Waits for a turn. On a busy machine the test may not run for so long that the pacer detects a pause of the process and
    /// refuses the waiting sends. Such a send asks again, as the message log does.
    private static func turn(of pacer: Pacer) async -> DeliveryError? {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let error = await pacer.turn(for: nil, isAlert: false, by: deadline)
            guard error?.code == "NO_TIME", .now < deadline else { return error }
        }
    }
}
