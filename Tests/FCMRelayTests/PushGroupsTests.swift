import Schemas
import Testing
import Base

@testable import FCMRelay

/// When a group of a push's recipients may go out, with a test clock.
@Suite("Groups of pushes")
struct PushGroupsTests {
    private typealias Machine = PacingStateMachine<Int>

    private static let start = ContinuousClock.now
    private static let group = 100

    /// A machine with room for two groups, and with a rate that delays none.
    private static func machine(rate: Double = 1_000_000, room groups: Int = 2) -> Machine {
        Machine(bucket: TokenBucket(rate: rate, ramp: .zero, at: start), maxPushRecipients: groups * group, at: start)
    }

    /// - Parameter push: The number of the push in the order of arrival; `nil` for a message.
    private static func request(
        _ number: Int, of push: Int?, isUrgent: Bool = false, within time: Duration = .seconds(20), key: ObjectID? = nil
    ) -> Machine.Request {
        Machine.Request(
            waiter: number, topic: nil, isAlert: isUrgent, cost: push == nil ? 1 : group, deadline: start + time, key: key,
            pushArrival: push.map { start - .seconds(100) + .seconds($0) })
    }

    private static func gone(_ decisions: [Machine.Decision]) -> [Int] {
        decisions.compactMap { if case .go(let number) = $0 { number } else { nil } }
    }

    private static func refused(_ decisions: [Machine.Decision]) -> [Int] {
        decisions.compactMap { if case .refuse(let number, _) = $0 { number } else { nil } }.sorted()
    }

    /// Ends groups one after another.
    ///
    /// - Returns: The groups that go out after each.
    private static func end(_ groups: [Bool], in machine: inout Machine) -> [[Int]] {
        groups.map { isUrgent in gone(machine.endGroup(of: nil, cost: group, isAlert: isUrgent, at: start)) }
    }

    @Test("Groups beyond the limit wait, those of an earlier push first; messages do not wait for them")
    func order() {
        var machine = Self.machine()
        var atOnce: [Int] = []
        for (number, push) in [1, 1, 2, 3, 1, 2].enumerated() {
            atOnce += Self.gone(machine.ask(Self.request(number, of: push), at: Self.start))
        }
        #expect(atOnce == [0, 1])
        #expect(machine.pace(of: "p", at: Self.start).waiting == 4 * Self.group)
        let isMessageFree = machine.tryTakeTurn(to: nil, cost: 1, at: Self.start)
        let isGroupFree = machine.tryTakeTurn(to: nil, cost: 1, pushArrival: Self.start, at: Self.start)
        #expect(isMessageFree && !isGroupFree)
        #expect(Self.gone(machine.ask(Self.request(9, of: nil), at: Self.start)) == [9])
        #expect(Self.end([false, false, false, false, false, false], in: &machine) == [[4], [2], [5], [3], [], []])
        let isFree = machine.tryTakeTurn(to: nil, cost: Self.group, pushArrival: Self.start, at: Self.start)
        #expect(isFree)
    }

    @Test("Urgent groups go before normal ones, and each urgency may always have one group under way")
    func urgency() {
        var machine = Self.machine()
        for number in 0..<4 { _ = machine.ask(Self.request(number, of: number), at: Self.start) }
        let first = Self.gone(machine.ask(Self.request(10, of: 10, isUrgent: true), at: Self.start))
        #expect(first == [10], "not kept waiting by the two normal ones")
        for number in 11...13 {
            #expect(Self.gone(machine.ask(Self.request(number, of: number, isUrgent: true), at: Self.start)).isEmpty)
        }
        // Three are under way, so the first end makes no room. Then an urgent one goes, and a normal one as the only one.
        #expect(Self.end([false, false, true, true, true, true], in: &machine) == [[], [11, 2], [], [12], [13], [3]])
    }

    @Test("A group that waits for the pace gives its room to others when it is refused")
    func refusedInTheQueue() {
        var machine = Self.machine(rate: 100)
        let key = ObjectID()
        #expect(Self.gone(machine.ask(Self.request(0, of: 0), at: Self.start)) == [0])
        for (number, push, key) in [(1, 1, key), (2, 1, key), (3, 2, ObjectID())] {
            #expect(machine.ask(Self.request(number, of: push, key: key), at: Self.start).isEmpty)
        }
        let withdrawn = machine.withdraw(key, at: Self.start)
        #expect(Self.refused(withdrawn.decisions) == [1, 2] && withdrawn.commands == 1, "two groups of one command")
        #expect(Self.gone(machine.advance(at: Self.start + .seconds(5))) == [3])
    }

    @Test("While the pace delays sends, an Alert waits for one group of an urgent push, and not for all that have room")
    func alertBetweenGroups() {
        var machine = Self.machine(rate: 100, room: 5)
        #expect(Self.gone(machine.ask(Self.request(0, of: 0, isUrgent: true), at: Self.start)) == [0])
        for number in 1...4 {
            #expect(machine.ask(Self.request(number, of: 0, isUrgent: true), at: Self.start).isEmpty)
        }
        #expect(machine.ask(Self.request(9, of: nil, isUrgent: true), at: Self.start).isEmpty)
        var order: [Int] = []
        var now = Self.start
        while let next = machine.nextMoment(at: now) {
            now = max(next, now + .milliseconds(1))
            order += Self.gone(machine.advance(at: now))
        }
        #expect(order == [1, 9, 2, 3, 4])
        #expect(now - Self.start < .seconds(4.1), "a second for each group, as the rate allows")
    }

    @Test("A withdrawal also refuses the groups that the same command asks for later, and not those of a new command")
    func withdrawnForGood() {
        var machine = Self.machine()
        let key = ObjectID()
        for number in 0..<2 { _ = machine.ask(Self.request(number, of: 0), at: Self.start) }
        #expect(machine.ask(Self.request(2, of: 1, key: key), at: Self.start).isEmpty)
        let withdrawn = machine.withdraw(key, at: Self.start)
        #expect(Self.refused(withdrawn.decisions) == [2] && withdrawn.commands == 1)
        #expect(Self.end([false, false], in: &machine) == [[], []])
        let request = Self.request(3, of: 1, key: key)
        let isFree = machine.tryTakeTurn(
            to: nil, cost: Self.group, of: key, pushArrival: request.pushArrival, at: Self.start + .seconds(1))
        #expect(!isFree)
        #expect(Self.refused(machine.ask(request, at: Self.start + .seconds(1))) == [3])
        // A hundred seconds after the first push is a second after the withdrawal.
        #expect(Self.gone(machine.ask(Self.request(4, of: 101, key: key), at: Self.start + .seconds(1))) == [4])
    }

    @Test("A push is withdrawn only while no group of it is on its way to FCM")
    func onItsWay() {
        var machine = Self.machine()
        let key = ObjectID()
        #expect(Self.gone(machine.ask(Self.request(0, of: 0), at: Self.start)) == [0])
        #expect(Self.gone(machine.ask(Self.request(1, of: 1, key: key), at: Self.start)) == [1])
        for number in 2...3 { #expect(machine.ask(Self.request(number, of: 1, key: key), at: Self.start).isEmpty) }
        let tooEarly = machine.withdraw(key, at: Self.start)
        #expect(tooEarly.decisions.isEmpty && tooEarly.commands == 0)
        #expect(Self.end([false], in: &machine) == [[2]])
        for _ in 0..<2 { _ = machine.endGroup(of: key, cost: Self.group, isAlert: false, at: Self.start) }
        // The third group has gone out by then.
        #expect(machine.withdraw(key, at: Self.start).commands == 0)
        _ = machine.endGroup(of: key, cost: Self.group, isAlert: false, at: Self.start)
        for number in 4...5 { _ = machine.ask(Self.request(number, of: 2), at: Self.start) }
        #expect(machine.ask(Self.request(6, of: 3, key: key), at: Self.start).isEmpty)
        #expect(machine.withdraw(key, at: Self.start).commands == 1)
    }

    @Test("A waiting group is refused at its deadline, when the circuit opens and when the relay stops")
    func ends() throws {
        var machine = Self.machine()
        for number in 0..<2 { _ = machine.ask(Self.request(number, of: number), at: Self.start) }
        _ = machine.ask(Self.request(2, of: 2, within: .seconds(3)), at: Self.start)
        #expect(machine.nextMoment(at: Self.start) == Self.start + .seconds(3))
        #expect(Self.refused(machine.advance(at: Self.start + .seconds(3))) == [2])
        #expect(machine.nextMoment(at: Self.start + .seconds(3)) == nil)
        _ = machine.ask(Self.request(3, of: 3), at: Self.start)
        #expect(Self.refused(machine.circuitOpened(DeliveryError(.circuitOpen))) == [3])
        _ = machine.ask(Self.request(4, of: 4), at: Self.start)
        #expect(Self.refused(machine.stop()) == [4])
        #expect(Self.end([false, false], in: &machine) == [[], []])
    }

    @Test("A group is refused at once if the pace does not reach it before its deadline, behind groups that wait for room")
    func tooMuch() {
        var machine = Self.machine(rate: 100)
        var refused: [Int] = []
        for number in 0..<10 {
            refused += Self.refused(machine.ask(Self.request(number, of: number, within: .seconds(4.5)), at: Self.start))
        }
        #expect(refused == [6, 7, 8, 9])
    }
}
