import Schemas
import Testing
import Base

@testable import MessageLog

/// The changes of a message's record on its way, with a test clock.
@Suite("Relay record")
struct RelayRecordTests {
    private static let now: UnixMilliseconds = 1_000_000
    private static let expires: UnixMilliseconds = 2_000_000

    private static func logged(_ distribution: Distribution = .alert) -> RelayRecord {
        RelayRecord(logged: distribution, due: now, lease: Lease(owner: "me", until: now + 30_000))
    }

    private static func accepted(_ component: Component) -> ComponentOutcome {
        ComponentOutcome(component: component, result: .success("projects/p/messages/\(component.rawValue)"))
    }

    private static func failed(_ component: Component, _ class: ErrorClass, retryAfter: Milliseconds? = nil) -> ComponentOutcome {
        ComponentOutcome(
            component: component,
            result: .failure(DeliveryError(class: `class`, code: "CODE", message: "why", retryAfter: retryAfter)))
    }

    private func after(
        _ outcomes: [ComponentOutcome], of record: RelayRecord = logged(), at now: UnixMilliseconds = now, random: Double = 0.5
    ) -> RelayRecord {
        var record = record
        record.lease = Lease(owner: "me", until: now + 30_000)
        record.answered(
            outcomes.results(for: record), to: "me", at: now, expires: Self.expires, schedule: RetrySchedule(), random: random)
        return record
    }

    @Test("A logged message is pending, due at once, with the components of its distribution")
    func logged() {
        #expect(Self.logged().state == .pending)
        #expect(Self.logged().nextAttempt == Self.now + 30_000, "the lease's end")
        #expect(RelayRecord(logged: .alert, due: Self.now).nextAttempt == Self.now)
        #expect(Self.logged(.alert).pendingComponents == [.notification, .data])
        #expect(Self.logged(.information).pendingComponents == [.data])
    }

    @Test("A message whose components are all accepted is relayed, with FCM's names")
    func relayed() {
        let record = after([Self.accepted(.notification), Self.accepted(.data)])
        #expect(record.state == .relayed)
        #expect(record.attempts == 1)
        #expect(record.nextAttempt == nil && record.ended == Self.now)
        #expect(record.lease == nil)
        #expect(record.components.map(\.name) == ["projects/p/messages/notification", "projects/p/messages/data"])
        #expect(record.components.map(\.acceptedAt) == [Self.now, Self.now])
    }

    @Test("A component keeps the time at which FCM has accepted it, while the rest is retried")
    func acceptanceTime() {
        let first = after([Self.accepted(.notification), Self.failed(.data, .retryable)])
        let second = after([Self.accepted(.data)], of: first, at: Self.now + 5_000)
        #expect(second.components.map(\.acceptedAt) == [Self.now, Self.now + 5_000])
    }

    @Test("An accepted component is never sent again, and the rest is retried")
    func partial() {
        let record = after([Self.accepted(.notification), Self.failed(.data, .retryable)])
        #expect(record.state == .retrying)
        #expect(record.pendingComponents == [.data])
        #expect(record.nextAttempt == Self.now + 10_000)
        #expect(record.components[1].error?.code == "CODE")

        // A late second answer does not undo an acceptance.
        let late = after([Self.failed(.notification, .permanent), Self.accepted(.data)], of: record)
        #expect(late.state == .relayed)
        #expect(late.components[1].error == nil)
    }

    @Test("A permanent error fails the message, and the other component is still relayed")
    func permanent() {
        let record = after([Self.failed(.notification, .permanent), Self.failed(.data, .retryable)])
        #expect(record.state == .retrying)
        #expect(record.pendingComponents == [.data])
        let end = after([Self.accepted(.data)], of: record)
        #expect(end.state == .failed)
        #expect(end.components.map(\.state) == [.failed, .accepted])
        #expect(end.nextAttempt == nil)
    }

    @Test("The wait before a retry doubles from 10 s to 10 min, a fifth more or less, and never less than FCM asks for")
    func schedule() {
        func delay(_ attempts: Int, asked: Milliseconds? = nil, within remaining: Milliseconds = .max, random: Double)
            -> Milliseconds
        {
            RetrySchedule().delay(after: attempts, asked: asked, within: remaining, random: random)
        }
        #expect(
            (1...9).map { delay($0, random: 0.5) }
                == [10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000, 600_000])
        #expect(delay(1, random: 0) == 8_000)
        #expect(delay(1, random: 1) == 12_000)
        #expect(delay(1_000_000, random: 0.5) == 600_000)
        #expect(delay(1, asked: 60_000, random: 0) == 60_000)
        #expect(delay(1, asked: 60_000, random: 1) == 72_000)
        #expect(delay(1, asked: 60_000, within: 72_000, random: 1) == 60_000, "or it would not be tried at all")
        #expect(delay(4, asked: 60_000, random: 0.5) == 80_000)
        #expect(delay(1, asked: .max, random: 1) == .max)
        #expect(
            after([Self.failed(.data, .retryable, retryAfter: 120_000)], of: Self.logged(.information), random: 0).nextAttempt
                == Self.now + 120_000)
    }

    @Test(
        "A message that a relay could not send to FCM does not wait longer each time",
        arguments: ["CIRCUIT_OPEN", "NO_TIME", "OAUTH", "OVERLOADED", "PACED", "PROJECT_PAUSED", "STOPPED", "TOPIC_PAUSED"])
    func keptBack(code: String) {
        let error = DeliveryError(class: .retryable, code: code, message: "-", retryAfter: 1_000)
        let outcome = ComponentOutcome(component: .data, result: .failure(error))
        var record = Self.logged(.information)
        var waits: [Milliseconds] = []
        for _ in 0..<5 {
            record = after([outcome], of: record)
            waits.append((record.nextAttempt ?? 0) - Self.now)
        }
        #expect(waits == [10_000, 20_000, 20_000, 20_000, 20_000])
        // After an answer of FCM all attempts count.
        record = after([Self.failed(.data, .retryable)], of: record)
        #expect(record.nextAttempt == Self.now + 320_000)
    }

    @Test("A retry that would come after the expiry is moved to the expiry")
    func expiry() {
        let late: UnixMilliseconds = Self.expires - 1_000
        var record = after([Self.failed(.data, .retryable)], of: Self.logged(.information), at: late)
        #expect(record.state == .retrying)
        #expect(record.nextAttempt == Self.expires)
        record.lease = Lease(owner: "me", until: Self.expires)
        record.expire(at: Self.expires, expires: Self.expires, owner: "me")
        #expect(record.state == .expired)
        #expect(record.components.map(\.state) == [.expired])
        #expect(record.nextAttempt == nil)
        #expect(record.components[0].error?.code == "CODE", "the last error is still told")
    }

    @Test("An answer that only says that the message has expired keeps the earlier error")
    func expiredByRelay() {
        let tooLate = ComponentOutcome(
            component: .data, result: .failure(DeliveryError(class: .expired, code: "EXPIRED", message: "too late")))
        var record = after([Self.failed(.data, .retryable)], of: Self.logged(.information))
        record.lease = Lease(owner: "me", until: Self.expires)
        record.answered(
            [tooLate].results(for: record), to: "me", at: Self.now, expires: Self.expires, schedule: RetrySchedule(), random: 0.5)
        #expect(record.state == .expired)
        #expect(record.components[0].error?.code == "CODE")
        #expect(after([tooLate], of: Self.logged(.information)).components[0].error?.code == "EXPIRED")
    }

    @Test("A message with one accepted component that expires is expired, and shows which was accepted")
    func partlyExpired() {
        var record = after([Self.accepted(.notification), Self.failed(.data, .retryable)])
        record.lease = Lease(owner: "me", until: Self.expires)
        record.expire(at: Self.expires, expires: Self.expires, owner: "me")
        #expect(record.state == .expired)
        #expect(record.components.map(\.state) == [.accepted, .expired])
    }

    private static let unreachable = DeliveryError(class: .retryable, code: "RELAY_UNREACHABLE", message: "none")

    @Test("A component that FCM may have keeps that error when no relay takes it afterwards, and when it expires")
    func unknownOutcome() throws {
        var record = Self.logged()
        record.unanswered(
            "outcome unknown", to: "me", at: Self.now, expires: Self.expires, schedule: RetrySchedule(), random: 0.5)
        record.lease = Lease(owner: "me", until: Self.expires)
        record.unreachable(Self.unreachable, to: "me", at: Self.now + 5, expires: Self.expires)
        record.expire(at: Self.expires, expires: Self.expires)
        #expect(record.state == .expired)
        #expect(record.components.map(\.error?.code) == ["RELAY_NO_ANSWER", "RELAY_NO_ANSWER"])
    }

    @Test("Without a relay the message is due again at once, stays pending, and says why")
    func unreachable() {
        var record = Self.logged()
        record.unreachable(Self.unreachable, to: "me", at: Self.now + 5, expires: Self.expires)
        #expect(record.state == .pending)
        #expect(record.attempts == 0)
        #expect(record.nextAttempt == Self.now + 5)
        #expect(record.lease == nil)
        #expect(record.components.map(\.error) == [Self.unreachable, Self.unreachable])
        record.expire(at: Self.expires, expires: Self.expires)
        #expect(record.state == .expired)
        #expect(record.components.map(\.error) == [Self.unreachable, Self.unreachable])
    }

    @Test("Without an answer, the pause doubles from a second to ten minutes")
    func unanswered() {
        var record = Self.logged(.information)
        var waits: [Milliseconds] = []
        for attempt in 1...12 {
            record.lease = Lease(owner: "me", until: Self.now + 30_000)
            record.unanswered(
                "lost", to: "me", at: Self.now, expires: .max, schedule: RetrySchedule(), random: 0.5)
            #expect(record.state == .retrying && record.attempts == attempt && record.lease == nil)
            #expect(record.components[0].error?.code == "RELAY_NO_ANSWER" && record.components[0].error?.message == "lost")
            waits.append((record.nextAttempt ?? 0) - Self.now)
        }
        #expect(waits == (0..<10).map { Milliseconds.seconds(1 << $0) } + [600_000, 600_000])
        // After an answer the waits start again.
        record = after([Self.failed(.data, .retryable)], of: record)
        record.lease = Lease(owner: "me", until: Self.now + 30_000)
        record.unanswered("lost", to: "me", at: Self.now, expires: .max, schedule: RetrySchedule(), random: 0.5)
        #expect(record.nextAttempt == Self.now + 1_000)
    }

    @Test("Only a message that has expired, is not leased to another process and is not final is ended")
    func expire() {
        var record = Self.logged()
        let leased = record
        record.expire(at: Self.expires - 1, expires: Self.expires)
        #expect(record == leased)
        record.lease = Lease(owner: "other", until: Self.expires + 1)
        record.expire(at: Self.expires, expires: Self.expires)
        #expect(record.state == .pending)
        record.expire(at: Self.expires + 1, expires: Self.expires)
        #expect(record.state == .expired && record.ended == Self.expires + 1 && record.nextAttempt == nil)
        #expect(record.components.map(\.error?.code) == ["EXPIRED", "EXPIRED"])
        let ended = record
        record.expire(at: Self.expires + 9, expires: Self.expires)
        #expect(record == ended)
    }

    @Test("An answer after the lease went to another process counts only for components that FCM accepted")
    func lateAnswer() {
        var record = Self.logged()
        record.lease = Lease(owner: "other", until: Self.now + 60_000)
        record.nextAttempt = Self.now + 60_000
        record.answered(
            [Self.accepted(.notification), Self.failed(.data, .permanent)].results(for: record), to: "me", at: Self.now,
            expires: Self.expires, schedule: RetrySchedule(), random: 0.5)
        #expect(record.pendingComponents == [.data])
        // So the other process does not store what it has read before.
        #expect(record.lease == Lease(owner: "other", until: Self.now + 59_999))
        #expect(record.nextAttempt == Self.now + 59_999)
        record.unreachable(Self.unreachable, to: "me", at: Self.now, expires: Self.expires)
        record.unanswered(
            "lost", to: "me", at: Self.now, expires: Self.expires, schedule: RetrySchedule(), random: 0.5)
        #expect(record.lease?.owner == "other" && record.attempts == 1)
        record.answered(
            [Self.accepted(.data)].results(for: record), to: "me", at: Self.now, expires: Self.expires,
            schedule: RetrySchedule(), random: 0.5)
        #expect(record.state == .relayed)
        #expect(record.nextAttempt == nil)
    }

    @Test("An answer after the lease was lost changes nothing unless FCM has accepted something that the record does not have")
    func nothingNew() {
        func answer(_ outcomes: [ComponentOutcome], _ record: inout RelayRecord) {
            record.answered(
                outcomes.results(for: record), to: "me", at: Self.now + 5, expires: Self.expires, schedule: RetrySchedule(),
                random: 0.5)
        }
        // The same outcomes again, because the answer of the first write was lost.
        let outcomes = [Self.accepted(.notification), Self.accepted(.data)]
        for data in [outcomes[1], Self.failed(.data, .permanent), Self.failed(.data, .retryable)] {
            let outcomes = [outcomes[0], data]
            let stored = after(outcomes)
            var again = stored
            answer(outcomes, &again)
            #expect(again == stored)
        }
        var record = after([outcomes[0], Self.failed(.data, .retryable)])
        answer(outcomes, &record)
        #expect(record.state == .relayed && record.attempts == 1)

        record = after([outcomes[0], Self.failed(.data, .retryable)])
        record.lease = Lease(owner: "other", until: Self.now + 60_000)
        record.nextAttempt = Self.now + 60_000
        let leased = record
        answer([outcomes[0], Self.failed(.data, .permanent)], &record)
        #expect(record == leased)
    }
}

/// Recalls and retries by people.
@Suite("Interventions")
struct InterventionTests {
    private static let now: UnixMilliseconds = 1_000_000

    private static func failed(_ states: [DeliveryState], _ state: RelayState = .failed) -> RelayRecord {
        RelayRecord(
            state: state, attempts: 2, nextAttempt: state == .failed ? nil : now,
            components: zip([RelayComponent.notification, .data], states).map { ComponentRecord(component: $0, state: $1) })
    }

    @Test("A retry sends only the components that failed, and is in the trace")
    func retry() throws {
        var record = Self.failed([.accepted, .failed])
        try record.retry(by: "Ann", at: ChangeTime(now: Self.now), expires: Self.now + 1)
        #expect(record.state == .retrying && record.ended == nil)
        #expect(record.pendingComponents == [.data])
        #expect(record.nextAttempt == Self.now)
        #expect(record.trace == [Intervention(action: .retry, at: Self.now, by: "Ann")])
    }

    @Test("Only a failed message that has not expired can be tried again")
    func noRetry() {
        for state in RelayState.allCases where state != .failed {
            var record = Self.failed([.accepted, .pending], state)
            let before = record
            #expect(throws: CommandFailure.self) {
                try record.retry(by: "Ann", at: ChangeTime(now: Self.now), expires: Self.now + 1)
            }
            #expect(record == before)
        }
        var expired = Self.failed([.failed])
        #expect(throws: CommandFailure.self) { try expired.retry(by: "Ann", at: ChangeTime(now: Self.now), expires: Self.now) }
    }

    @Test("A waiting message can be recalled, and is then final with a trace")
    func recall() throws {
        for state in [RelayState.pending, .retrying] {
            var record = Self.failed([.pending, .pending], state)
            // A lease of a dead process, which has just ended, does not prevent a recall.
            record.lease = Lease(owner: "dead", until: Self.now)
            try record.recall(by: "Ann", at: ChangeTime(now: Self.now), reason: "wrong room")
            #expect(record.state == .recalled)
            #expect(record.components.map(\.state) == [.recalled, .recalled])
            #expect(record.nextAttempt == nil && record.lease == nil)
            #expect(record.trace == [Intervention(action: .recall, at: Self.now, by: "Ann", reason: "wrong room")])
        }
    }

    @Test("A message that is in flight, partly accepted or final cannot be recalled")
    func noRecall() {
        var underWay = Self.failed([.pending], .pending)
        underWay.lease = Lease(owner: "me", until: Self.now + 1)
        for record in [underWay, Self.failed([.accepted, .pending], .retrying), Self.failed([.failed])] {
            var record = record
            let before = record
            // An earlier change by a clock that is ahead does not end a lease.
            for time in [ChangeTime(now: Self.now), ChangeTime(now: Self.now, recorded: Self.now + 60_000)] {
                #expect(throws: CommandFailure.self) { try record.recall(by: "Ann", at: time) }
            }
            #expect(record == before)
        }
    }
}
