import Logging
import Schemas
import TestSupport
import Testing
import Base

@testable import MessageLog
@testable import Archive

/// The acceptance order.
@Suite("Acceptance clock", .timeLimit(.minutes(10)))
struct AcceptanceClockTests {
    private static func record(_ states: [DeliveryState] = [.accepted, .accepted]) -> RelayRecord {
        RelayRecord(
            state: .relayed, attempts: 1, nextAttempt: nil,
            components: zip([.notification, .data], states).map { ComponentRecord(component: $0, state: $1) })
    }

    private static func accept(
        by clock: AcceptanceClock, at now: UnixMilliseconds, _ record: RelayRecord = record()
    ) -> UnixMilliseconds? {
        var record: any DeliveryRecord = record
        clock.note(&record, at: now)
        return (record as? RelayRecord)?.accepted
    }

    @Test("Each message gets a later time than the one before it, even after the clock was set back")
    func grows() {
        let clock = AcceptanceClock()
        let times = [1_000, 1_000, 1_005, 10, 1_006, 2_000].map { Self.accept(by: clock, at: UnixMilliseconds(rawValue: $0)) }
        #expect(times == [1_000, 1_001, 1_005, 1_006, 1_007, 2_000])
    }

    @Test("Only the first acceptance of the data counts")
    func dataOnly() {
        let clock = AcceptanceClock()
        #expect(Self.accept(by: clock, at: 5, Self.record([.accepted, .pending])) == nil)
        #expect(Self.accept(by: clock, at: 6, Self.record([.pending, .accepted])) == 6)
        var accepted = Self.record()
        accepted.accepted = 3
        #expect(Self.accept(by: clock, at: 7, accepted) == 3)
    }

    /// Runs a test with an empty archive.
    private static func withStore(_ body: (any MessageStore) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let store = try await openMessageStore(database: nil, folder: folder, maxPageTime: nil, logger: .init(label: "test"))
            try await body(store)
            try await store.close()
        }
    }

    /// Stores a message.
    @discardableResult
    private static func add(
        to store: any MessageStore, accepted: UnixMilliseconds?
    ) async throws -> ObjectID {
        var message = Message.sample(relay: Self.record())
        message.relay.accepted = accepted
        _ = try await store.insert(message)
        return message.msiKey
    }

    /// The keys of what a phone gets, and its next cursor.
    private static func read(
        _ store: any MessageStore, in order: AcceptanceClock, after: PageCursor? = nil, now: UnixMilliseconds,
        at instant: ContinuousClock.Instant
    ) async throws -> (keys: [ObjectID], next: PageCursor) {
        let reply = try await store.read(ReadAccepted(topics: [.sample], after: after), in: order, now: now, at: instant)
        return (reply.messages.map(\.msiKey), reply.next)
    }

    @Test("A new process continues after the stored messages")
    func continues() async throws {
        try await Self.withStore { store in
            try await Self.add(to: store, accepted: 5_000)
            let clock = AcceptanceClock()
            try await clock.refresh(from: store)
            #expect(Self.accept(by: clock, at: 4_000) == 5_001)
        }
    }

    @Test("A process whose clock is behind continues after the messages of the others")
    func clockBehind() async throws {
        try await Self.withStore { store in
            let (one, other) = (AcceptanceClock(), AcceptanceClock())
            let (now, start): (UnixMilliseconds, _) = (10_000_000, ContinuousClock.now)
            for clock in [one, other] { try await clock.refresh(from: store, at: start) }
            let first = try #require(Self.accept(by: one, at: now))
            try await Self.add(to: store, accepted: first)
            // Not for each message.
            try await other.refresh(from: store, at: start + .milliseconds(900))
            #expect(Self.accept(by: other, at: now - 600_000) == now - 600_000)
            try await other.refresh(from: store, at: start + .milliseconds(1_100))
            #expect(Self.accept(by: other, at: now - 600_000) == first + 1)
        }
    }

    @Test("A page reaches back eight days at most")
    func pages() async throws {
        try await Self.withStore { store in
            let now: UnixMilliseconds = 1_795_262_462_399
            var keys: [ObjectID] = []
            for age in [9 * 86_400_000, 7 * 86_400_000, 0] as [Milliseconds] {
                keys.append(try await Self.add(to: store, accepted: now - age))
            }
            for after in [nil, PageCursor(before: 1)] {
                let page = try await Self.read(store, in: AcceptanceClock(), after: after, now: now, at: .now)
                #expect(page.keys == Array(keys.dropFirst()))
            }
        }
    }

    @Test(
        "A reader who has read everything continues after the last message once it is a minute old, and has the same cursor as others"
    )
    func end() async throws {
        try await Self.withStore { store in
            let (order, start, now): (AcceptanceClock, _, UnixMilliseconds) = (AcceptanceClock(), ContinuousClock.now, 10_000_000)
            let first = try await Self.add(to: store, accepted: now)
            // Right after the start only the stored times count.
            let early = try await Self.read(store, in: order, now: now, at: start)
            #expect(early.keys == [first] && early.next == PageCursor(before: now - 60_000 + 1))
            // One that is stored late, but no later than a minute.
            let late = try await Self.add(to: store, accepted: now - 59_000)
            let again = try await Self.read(store, in: order, after: early.next, now: now + 59_000, at: start + .seconds(59))
            #expect(again.keys == [late, first] && again.next == early.next)
            let done = try await Self.read(store, in: order, after: again.next, now: now + 60_000, at: start + .seconds(60))
            #expect(done.next == PageCursor(before: now + 1))
            for hour in 1...3 {
                let later = start + .seconds(hour * 3_600)
                let quiet = try await Self.read(store, in: order, after: done.next, now: now + 9_000_000, at: later)
                #expect(quiet.keys.isEmpty && quiet.next == done.next)
            }
        }
    }

    @Test("No message is skipped after the clock was ahead", arguments: [0, 30] as [Milliseconds])
    func clockAhead(traffic: Milliseconds) async throws {
        try await Self.withStore { store in
            let (order, start, now): (AcceptanceClock, _, UnixMilliseconds) = (AcceptanceClock(), ContinuousClock.now, 90_000_000)
            try await Self.add(to: store, accepted: now)
            // The clock is an hour ahead for two minutes. In one case messages are accepted during that time.
            let ahead = now + 3_600_000
            _ = try await Self.read(store, in: order, now: ahead, at: start)
            if traffic > 0 { try await Self.add(to: store, accepted: Self.accept(by: order, at: ahead + traffic)) }
            let cursor = try await Self.read(store, in: order, now: ahead + 120_000, at: start + .seconds(120)).next
            // It is right again.
            let time = try #require(Self.accept(by: order, at: now + 121_000))
            let new = try await Self.add(to: store, accepted: time)
            let page = try await Self.read(store, in: order, after: cursor, now: now + 122_000, at: start + .seconds(122))
            #expect(page.keys.contains(new))
        }
    }
}
