import Base
import Schemas
import Testing

@testable import MessageLog

/// Data that waits for the pop-ups of Alerts, with test clocks.
@Suite("Fan-outs of pop-ups")
struct FanOutClockTests {
    private static let start = ContinuousClock.now
    private static let now: UnixMilliseconds = 1_800_000_000_000
    private static let popUp = AttemptOutcome(.fcm, .answered([PartResult(part: 0, result: .success("n"))]))

    /// A message that is posted and due at a time.
    private static func message(
        _ distribution: Distribution = .alert, at time: UnixMilliseconds = now, lifetime: Milliseconds = 3_600_000,
        _ change: (inout RelayRecord) -> Void = { _ in }
    ) -> Message {
        var message = Message.sample(.sample(distribution: distribution, timestamp: time, lifetime: lifetime))
        change(&message.relay)
        return message
    }

    private static func step(of message: Message, lasting length: Milliseconds? = 4_000, rest: Milliseconds = 0) -> FanOutStep {
        message.fanOutStep(lasting: length, rest: rest, at: now)
    }

    @Test(
        "A fan-out takes as long as the rate leaves, if that is worth a wait; a wrong number of phones makes no long wait",
        arguments: [
            (40_000, 10_000, 4_000), (5_000, 10_000, 500), (4_999, 10_000, nil), (0, 10_000, nil), (-1, 10_000, nil),
            (1_000_000, 10_000, 30_000), (.max, 1, 30_000), (40_000, 0, nil),
        ] as [(Int64, Int, Milliseconds?)])
    func length(phones: Int64, rate: Int, expected: Milliseconds?) {
        #expect(FanOutClock.length(of: phones, at: rate) == expected)
    }

    @Test("Pop-ups that FCM has at once are delivered after the sum of their times, and none is awaited for more than 30 s")
    func clock() {
        var clock = FanOutClock()
        #expect(clock.rest(at: Self.start) == 0)
        clock.began(4_000, at: Self.start)
        #expect(clock.rest(at: Self.start) == 4_001)
        #expect(clock.rest(at: Self.start + .milliseconds(3_999)) == 2 && clock.rest(at: Self.start + .seconds(4)) == 0)
        for _ in 1...4 { clock.began(4_000, at: Self.start + .seconds(1)) }
        #expect(clock.rest(at: Self.start + .seconds(1)) == 19_001)
        for _ in 1...10 { clock.began(30_000, at: Self.start + .seconds(2)) }
        #expect(clock.rest(at: Self.start + .seconds(2)) == 30_001)
        clock.began(500, at: Self.start + .seconds(100))
        #expect(clock.rest(at: Self.start + .seconds(100)) == 501, "after a time without pop-ups")
    }

    @Test("The pop-up of an Alert to many phones goes first, and never waits")
    func popUpFirst() {
        #expect(Self.step(of: Self.message()) == .popUpFirst(4_000))
        #expect(Self.step(of: Self.message(), rest: 20_000) == .popUpFirst(4_000))
        #expect(Self.step(of: Self.message(), lasting: nil, rest: 20_000) == .together)
        // It has waited for an hour.
        #expect(Self.step(of: Self.message(at: Self.now - 3_600_000, lifetime: 7_200_000)) == .popUpFirst(4_000))
        // The data would expire while it waits.
        #expect(Self.step(of: Self.message(lifetime: 60_000)) == .together)
        #expect(Self.step(of: Self.message(lifetime: 60_001)) == .popUpFirst(4_000))
        let shown = Self.message { $0.components[1].state = .accepted }
        #expect(Self.step(of: shown, rest: 20_000) == .together)
    }

    @Test(
        "A pop-up that FCM refuses for now, or that it may have, does not hold back the data",
        arguments: [
            ("RELAY_UNREACHABLE", true), ("CIRCUIT_OPEN", true), ("PROJECT_PAUSED", true), ("PACED", true),
            ("UNAVAILABLE", false), ("RELAY_NO_ANSWER", false), ("NEW_CODE", false),
        ])
    func refused(code: String, isAlone: Bool) {
        let message = Self.message {
            $0.attempts = 1
            $0.components[0].error = DeliveryError(class: .retryable, code: code, message: "-")
        }
        #expect(Self.step(of: message, rest: 9_000) == (isAlone ? .popUpFirst(4_000) : .together))
    }

    @Test("Data waits until the pop-ups are delivered, and at most 30 s after its own pop-up")
    func dataWaits() {
        func step(after popUp: Milliseconds, rest: Milliseconds, lasting length: Milliseconds? = 4_000) -> FanOutStep {
            let message = Self.message(at: Self.now - 100_000) {
                $0.components[0].state = .accepted
                $0.components[0].acceptedAt = Self.now - popUp
            }
            return Self.step(of: message, lasting: length, rest: rest)
        }
        #expect(step(after: 10_000, rest: 4_001) == .dataWaits(4_001))
        #expect(step(after: 10_000, rest: 30_001) == .dataWaits(20_000))
        #expect(step(after: 30_000, rest: 30_001) == .together)
        #expect(step(after: 10_000, rest: 0) == .together)
        #expect(step(after: 10_000, rest: 4_001, lasting: nil) == .together)
        // The clock was set back.
        #expect(step(after: -1, rest: 4_001) == .together)
    }

    @Test("Information waits for pop-ups at most 30 s after it was due, so that a backlog does not wait")
    func information() {
        func step(due age: Milliseconds, rest: Milliseconds) -> FanOutStep {
            Self.step(of: Self.message(.information, at: Self.now - age), rest: rest)
        }
        #expect(step(due: 0, rest: 0) == .together)
        #expect(step(due: 0, rest: 4_001) == .dataWaits(4_001))
        #expect(step(due: 29_000, rest: 4_001) == .dataWaits(1_000))
        #expect(step(due: 30_000, rest: 4_001) == .together)
    }

    private func attempted(_ outcomes: [AttemptOutcome], _ record: RelayRecord, at now: UnixMilliseconds = now) -> RelayRecord {
        var record = record
        record.lease = Lease(owner: "me", until: now + 30_000)
        record.attempted(
            outcomes, by: "me", at: now, expires: Self.now + 3_600_000, schedule: RetrySchedule(), random: 0.5)
        return record
    }

    @Test("Running apps have an Alert when FCM has its pop-up, and the later acceptance of its data changes nothing of that")
    func alertRecord() throws {
        var record = attempted([Self.popUp, .dataWaits(4_001)], RelayRecord(logged: .alert, due: Self.now))
        #expect(record.state == .retrying && record.attempts == 1 && record.lease == nil)
        #expect(record.components.map(\.state) == [.accepted, .pending])
        #expect(record.components.map(\.error?.code) == [nil, "FAN_OUT"])
        #expect(record.nextAttempt == Self.now + 4_001)
        let order = AcceptanceClock()
        order.note(&record, at: Self.now)
        #expect(record.accepted == Self.now)
        var recalled = record
        #expect(throws: CommandFailure.self) { try recalled.recall(by: "Ann", at: ChangeTime(now: Self.now + 1_000)) }

        // It waits for another pop-up as well.
        record = attempted([.dataWaits(8_000)], record, at: Self.now + 4_001)
        #expect(record.nextAttempt == Self.now + 12_001 && record.attempts == 1)
        let data = AttemptOutcome(.fcm, .answered([PartResult(part: 1, result: .success("n"))]))
        var relayed = attempted([data], record, at: Self.now + 12_001)
        order.note(&relayed, at: Self.now + 12_001)
        #expect(relayed.state == .relayed && relayed.attempts == 2 && relayed.accepted == Self.now)
        #expect(relayed.components.map(\.error) == [nil, nil])

        // FCM refuses the data for now.
        let refusal = DeliveryError(class: .retryable, code: "UNAVAILABLE", message: "-")
        let refused = attempted(
            [AttemptOutcome(.fcm, .answered([PartResult(part: 1, result: .failure(refusal))]))], record, at: Self.now + 12_001)
        #expect(refused.accepted == Self.now && refused.components[1].error == refusal)
    }

    @Test("Data that waits leaves the wait for the Web Push service as it is")
    func twoTransports() {
        let browsers = AttemptOutcome(.webpush, .answered([PartResult(part: 2, result: .success("7"))]))
        let logged = RelayRecord(logged: .alert, by: [.fcm, .webpush], due: Self.now, expires: Self.now + 3_600_000)
        let both = attempted([Self.popUp, browsers, .dataWaits(4_001)], logged)
        #expect(both.components.map(\.state) == [.accepted, .pending, .accepted])
        #expect(both.nextAttempt == Self.now + 4_001 && both.webpushAttempt == nil)
        let one = attempted([Self.popUp, .dataWaits(4_001)], logged)
        #expect(one.nextAttempt == Self.now + 4_001 && one.webpushAttempt == Self.now)
    }

    @Test("Information that waits has no attempt, is not accepted, and can be recalled")
    func informationRecord() throws {
        var record = attempted([.dataWaits(4_001)], RelayRecord(logged: .information, due: Self.now))
        AcceptanceClock().note(&record, at: Self.now)
        #expect(record.state == .pending && record.attempts == 0 && record.accepted == nil)
        #expect(record.nextAttempt == Self.now + 4_001 && record.components[0].error?.code == "FAN_OUT")
        try record.recall(by: "Ann", at: ChangeTime(now: Self.now + 1_000))
        #expect(record.state == .recalled && record.nextAttempt == nil)
    }
}
