import Archive
import Schemas
import Testing
import Base

@testable import MessageLog

@Suite("Outbox state machine")
struct OutboxStateMachineTests {
    private var outbox = OutboxStateMachine(capacity: 16)

    private static let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())

    private static func message(_ distribution: Distribution = .alert, topic: TopicKey = topic) -> OutboxItem {
        .message(.sample(.sample(distribution: distribution, topic: topic)))
    }

    private static func messages(_ count: Int, _ distribution: Distribution = .alert, topic: TopicKey = topic) -> [OutboxItem] {
        (0..<count).map { _ in message(distribution, topic: topic) }
    }

    private static func anotherTopic() -> TopicKey {
        TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
    }

    /// The next claim; `nil` if none is due.
    private func dueClaim(at now: UnixMilliseconds) -> Claim? {
        if case .claim(let claim) = outbox.next(at: now) { claim } else { nil }
    }

    /// Performs all due claims, without finding any message.
    private mutating func settle(at now: UnixMilliseconds) {
        while let claim = dueClaim(at: now) { _ = outbox.claimed([], for: claim, at: now) }
    }

    @Test("The outbox looks at once, for Alerts first, and then once a second")
    mutating func rhythm() throws {
        let alerts = try #require(dueClaim(at: 100))
        #expect(alerts == Claim(.high, limit: 14, maxPerKey: 8))
        _ = outbox.claimed([], for: alerts, at: 100)
        let information = try #require(dueClaim(at: 100))
        #expect(information == Claim(.normal, limit: 14, maxPerKey: 8))
        outbox.claimFailed(information, at: 100)
        #expect(outbox.next(at: 100) == .wait(until: 1_100))
        #expect(dueClaim(at: 1_100) == alerts)
    }

    @Test("Neither distribution takes up all of the room")
    mutating func capacity() throws {
        let topics = (0..<4).map { _ in Self.anotherTopic() }
        let flood = topics.flatMap { Self.messages(5, .information, topic: $0) }
        let granted = flood.filter { outbox.reserve($0) }
        #expect(granted.count == 14)
        // The last eighth of the room is for alerts.
        #expect(dueClaim(at: 0)?.limit == 2)
        let first = outbox.reserve(Self.message(topic: topics[0]))
        let second = outbox.reserve(Self.message(topic: topics[0]))
        let third = outbox.reserve(Self.message(topic: topics[0]))
        #expect(first && second && !third)
        #expect(outbox.next(at: 0) == .wait(until: 1_000))
        // Room that becomes free is offered to alerts first.
        _ = outbox.finished(.settled, of: granted[0], at: 10)
        #expect(dueClaim(at: 10).map { ($0.urgency, $0.limit) } ?? (.normal, 0) == (.high, 1))
        #expect(outbox.cancelReservation(of: granted[1].key) == nil)
        #expect(outbox.keysInFlight.count == 14)
    }

    @Test("A topic may take up half of the room, and a few places while FCM does not accept its messages")
    mutating func topics() throws {
        let flood = Self.messages(9)
        let granted = flood.filter { outbox.reserve($0) }
        #expect(granted.count == 8)
        let other = Self.anotherTopic()
        let elsewhere = outbox.reserve(Self.message(topic: other))
        #expect(elsewhere)
        let claim = try #require(dueClaim(at: 0))
        #expect(claim.room(for: .topic(Self.topic)) == 0)
        #expect(claim.room(for: .topic(other)) == 5)

        for message in granted[..<6] { _ = outbox.finished(.deferred, of: message, at: 10) }
        #expect(try #require(dueClaim(at: 10)).room(for: .topic(Self.topic)) == 2)
        _ = outbox.finished(.settled, of: granted[6], at: 20)
        #expect(try #require(dueClaim(at: 20)).room(for: .topic(Self.topic)) == 7)
    }

    @Test("A message in flight is not taken again, whatever became of its lease")
    mutating func keysInFlight() throws {
        let message = Self.message()
        let first = outbox.reserve(message)
        let again = outbox.reserve(message)
        #expect(first && !again)
        let other = Self.message()
        let new = outbox.claimed([message, other], for: try #require(dueClaim(at: 0)), at: 0)
        #expect(new == [other])
    }

    @Test("Messages that a claim left behind go before later ones, as soon as there is room")
    mutating func backlog() throws {
        let claim = try #require(dueClaim(at: 0))
        let claimed = Self.messages(8)
        _ = outbox.claimed(claimed, for: claim, at: 0)
        let overtaking = outbox.reserve(Self.message(topic: Self.anotherTopic()))
        #expect(!overtaking)
        settle(at: 0)
        #expect(outbox.next(at: 0) == .wait(until: 1_000))
        _ = outbox.finished(.settled, of: claimed[0], at: 2)
        #expect(outbox.next(at: 2) == .wait(until: 10), "a few at a time")
        #expect(dueClaim(at: 10)?.urgency == .high)
    }

    @Test("An item that waits until a known time is claimed then, and not up to a second later")
    mutating func expected() throws {
        settle(at: 0)
        outbox.willBeDue(.high, at: 4_300)
        outbox.willBeDue(.high, at: 4_250)
        for second in 1...4 { settle(at: UnixMilliseconds(rawValue: Int64(second) * 1_000)) }
        #expect(outbox.next(at: 4_000) == .wait(until: 4_300))
        let claim = try #require(dueClaim(at: 4_300))
        let begun = outbox.begin(at: 4_300)
        #expect(claim.urgency == .high && begun == .claim(claim))
        _ = outbox.claimed([], for: claim, at: 4_310)
        #expect(outbox.next(at: 4_310) == .wait(until: 5_000))
        // Before the clock was set back.
        outbox.willBeDue(.high, at: 90_000)
        // A claim that is running may miss it.
        outbox.willBeDue(.high, at: 5_401)
        settle(at: 5_000)
        _ = outbox.claimed([], for: claim, at: 5_400)
        #expect(outbox.next(at: 5_400) == .wait(until: 5_401))
        let next = outbox.begin(at: 5_401)
        outbox.willBeDue(.high, at: 5_405)
        #expect(next == .claim(claim))
        _ = outbox.claimed([], for: claim, at: 5_410)
        #expect(dueClaim(at: 5_410) == claim)
    }

    @Test("While Alerts are being claimed nothing else is, so that they go out first")
    mutating func alertsFirst() throws {
        let alerts = try #require(dueClaim(at: 0))
        #expect(alerts.urgency == .high)
        let first = outbox.begin(at: 0)
        #expect(first == .claim(alerts))
        #expect(outbox.next(at: 0) == .wait(until: 1_000))
        _ = outbox.claimed([], for: alerts, at: 0)
        #expect(dueClaim(at: 0)?.urgency == .normal)
    }

    @Test("A message that becomes due during a claim is claimed right after it")
    mutating func missed() throws {
        let claim = try #require(dueClaim(at: 0))
        _ = outbox.begin(at: 0)
        outbox.becameDue(.high, at: 1)
        _ = outbox.claimed([], for: claim, at: 2)
        #expect(dueClaim(at: 2) == claim)
    }

    @Test("A message that became due without room is claimed at once")
    mutating func becameDue() {
        settle(at: 0)
        outbox.becameDue(.normal, at: 5)
        #expect(dueClaim(at: 5)?.urgency == .normal)
    }

    @Test("While no relay answers, one message at a time is tried, less and less often, until one answers")
    mutating func away() throws {
        let message = Self.message()
        let first = Self.messages(3)
        _ = outbox.claimed(first, for: try #require(dueClaim(at: 0)), at: 0)
        settle(at: 0)
        // Failures of concurrent turns count as one.
        for message in first { _ = outbox.finished(.unanswered, of: message, at: 10) }
        let during = outbox.reserve(message)
        #expect(!during)
        #expect(outbox.next(at: 10) == .wait(until: 110))
        var now: UnixMilliseconds = 110
        var pauses: [Milliseconds] = []
        for _ in 0..<6 {
            let claim = try #require(dueClaim(at: now))
            #expect(claim.limit == 1)
            _ = outbox.claimed([message], for: claim, at: now)
            _ = outbox.finished(.unanswered, of: message, at: now)
            guard case .wait(let until) = outbox.next(at: now) else { break }
            pauses.append(until - now)
            now = until
        }
        #expect(pauses == [200, 400, 800, 1_600, 2_000, 2_000])
        _ = outbox.claimed([message], for: try #require(dueClaim(at: now)), at: now)
        _ = outbox.finished(.settled, of: message, at: now)
        #expect(dueClaim(at: now)?.limit == 14)
        settle(at: now)
        let afterwards = outbox.reserve(message)
        #expect(afterwards)
    }

    @Test("A message that is claimed while its turn ends gets its next turn at once, and not after the lease")
    mutating func claimedWhileEnding() throws {
        let message = Self.message()
        _ = outbox.claimed([message], for: try #require(dueClaim(at: 0)), at: 0)
        let claim = try #require(dueClaim(at: 1_000))
        let taken = outbox.claimed([message], for: claim, at: 1_000)
        #expect(taken.isEmpty)
        let again = outbox.finished(.unreachable, of: message, at: 1_001)
        #expect(again == message && outbox.keysInFlight == [message.key])
        let done = outbox.finished(.dropped, of: message, at: 1_002)
        #expect(done == nil && outbox.keysInFlight.isEmpty)
    }

    @Test("A turn wakes the loop only if that has something to do sooner than it expects, and once")
    mutating func wakesLoop() throws {
        let atStart = outbox.wakesLoop(at: 0)
        #expect(!atStart, "it asks by itself")
        let full = try #require(dueClaim(at: 0))
        let claimed = (0..<full.limit).map { _ in Self.message(topic: Self.anotherTopic()) }
        _ = outbox.claimed(claimed, for: full, at: 0)
        settle(at: 0)
        _ = outbox.begin(at: 0)

        // Alerts have no room, and of Information nothing is due before the next regular claim.
        let information = Self.message(.information)
        let isReserved = outbox.reserve(information)
        #expect(isReserved)
        _ = outbox.finished(.settled, of: information, at: 1)
        let afterOther = outbox.wakesLoop(at: 1)
        #expect(!afterOther)
        // There is room for the Alerts that the claim has left behind.
        _ = outbox.finished(.settled, of: claimed[0], at: 2)
        let (first, second) = (outbox.wakesLoop(at: 2), outbox.wakesLoop(at: 2))
        #expect(first && !second)
        let asked = outbox.begin(at: 2)
        #expect(asked == .wait(until: 10))
        _ = outbox.finished(.settled, of: claimed[1], at: 3)
        let known = outbox.wakesLoop(at: 3)
        #expect(!known, "it will claim at 10")
        outbox.becameDue(.normal, at: 4)
        let due = outbox.wakesLoop(at: 4)
        #expect(due)
    }

    @Test("A cancelled reservation wakes the loop if something waits for its room")
    mutating func cancelledReservation() {
        outbox = OutboxStateMachine(capacity: 1)
        settle(at: 0)
        let message = Self.message()
        let isReserved = outbox.reserve(message)
        outbox.becameDue(.normal, at: 1)
        let asked = outbox.begin(at: 1)
        #expect(isReserved && asked == .wait(until: 1_001))
        let again = outbox.cancelReservation(of: message.key)
        let wakes = outbox.wakesLoop(at: 2)
        #expect(again == nil && wakes)
    }

    @Test("A step of the clock does not keep the loop asleep")
    mutating func wakesLoopAfterClockSteps() {
        for (before, after) in [(0, 3_600_000), (3_600_000, 0)] as [(UnixMilliseconds, UnixMilliseconds)] {
            outbox = OutboxStateMachine(capacity: 16)
            settle(at: before)
            let asked = outbox.begin(at: before)
            #expect(asked == .wait(until: before + 1_000))
            let wakes = outbox.wakesLoop(at: after)
            #expect(wakes)
        }
    }

    @Test("When very many topics fail, all are forgotten, and those with messages in flight keep their places")
    mutating func manyFailingTopics() throws {
        var inFlight = InFlightItems(capacity: 16)
        let message = Self.message()
        let isNew = inFlight.begin(message)
        #expect(isNew)
        inFlight.answered(for: message.fairnessKey, isDeferred: true)
        for _ in 1..<10_000 { inFlight.answered(for: .topic(Self.anotherTopic()), isDeferred: true) }
        #expect(inFlight.claim(.high).room(for: message.fairnessKey) == 3)
        #expect(inFlight.claim(.high).room.count == 10_000)
        let last = FairnessKey.topic(Self.anotherTopic())
        inFlight.answered(for: last, isDeferred: true)
        #expect(inFlight.claim(.high).room == [message.fairnessKey: 7, last: 4])
        inFlight.answered(for: last, isDeferred: false)
        inFlight.end(message.key)
        #expect(inFlight.isEmpty && inFlight.claim(.high).room.isEmpty)
    }

    @Test("A message that expires does not end the pause for the relays")
    mutating func expiryIsNoAnswer() throws {
        let messages = Self.messages(2)
        _ = outbox.claimed(messages, for: try #require(dueClaim(at: 0)), at: 0)
        settle(at: 0)
        _ = outbox.finished(.unreachable, of: messages[0], at: 10)
        _ = outbox.finished(.expired, of: messages[1], at: 11)
        #expect(outbox.next(at: 11) == .wait(until: 110))
        let granted = outbox.reserve(Self.message())
        #expect(!granted)
    }

    @Test("The pauses for the relays continue after the clock was set back")
    mutating func pausesAfterClockSetBack() throws {
        let message = Self.message()
        _ = outbox.claimed([message], for: try #require(dueClaim(at: 3_600_000)), at: 3_600_000)
        _ = outbox.finished(.unreachable, of: message, at: 3_600_000)
        _ = outbox.claimed([message], for: try #require(dueClaim(at: 0)), at: 0)
        _ = outbox.finished(.unreachable, of: message, at: 0)
        #expect(outbox.next(at: 0) == .wait(until: 200))
    }

    @Test("A clock that is set back delays nothing")
    mutating func clockSetBack() throws {
        let message = Self.message()
        _ = outbox.claimed([message], for: try #require(dueClaim(at: 3_600_000)), at: 3_600_000)
        _ = outbox.finished(.unanswered, of: message, at: 3_600_000)
        #expect(dueClaim(at: 0) != nil)
    }
}
