import Logging
import Schemas
import TestSupport
import Testing
import Time

@testable import MessageLog
@testable import MessageStorage

/// The order of acceptance.
@Suite("Acceptance clock", .timeLimit(.minutes(1)))
struct AcceptanceClockTests {
    private static func record(_ states: [DeliveryState] = [.accepted, .accepted]) -> RelayRecord {
        RelayRecord(
            state: .relayed, attempts: 1, nextAttempt: nil,
            components: zip([.notification, .data], states).map { ComponentRecord(component: $0, state: $1) })
    }

    private static func place(
        by clock: AcceptanceClock, at now: UnixMilliseconds, _ record: RelayRecord = record()
    ) -> UnixMilliseconds? {
        var record: any DeliveryRecord = record
        clock.note(&record, at: now)
        return (record as? RelayRecord)?.accepted
    }

    @Test("Each message gets a later place than the former one, also if the clock is set back")
    func grows() {
        let clock = AcceptanceClock()
        let places = [1_000, 1_000, 1_005, 10, 1_006, 2_000].map { Self.place(by: clock, at: UnixMilliseconds(rawValue: $0)) }
        #expect(places == [1_000, 1_001, 1_005, 1_006, 1_007, 2_000])
    }

    @Test("Only the first acceptance of the data counts")
    func dataOnly() {
        let clock = AcceptanceClock()
        #expect(Self.place(by: clock, at: 5, Self.record([.accepted, .pending])) == nil)
        #expect(Self.place(by: clock, at: 6, Self.record([.pending, .accepted])) == 6)
        var accepted = Self.record()
        accepted.accepted = 3
        #expect(Self.place(by: clock, at: 7, accepted) == 3)
    }

    @Test("A new process goes on after the stored messages")
    func continues() async throws {
        try await withTemporaryFolder { folder in
            let store = try await openMessageStore(database: nil, folder: folder, maxPageTime: nil, logger: .init(label: "test"))
            let message = Message(
                msiKey: ObjectID(), draft: LogMessage.sample().draft, sender: "ann", timestamp: 1,
                names: CubeNames(channel: "C", area: "A", subject: "S"), expires: 9, relay: Self.record())
            _ = try await store.insert(message)
            try await store.update(message.msiKey) { record, _ in record.accepted = 5_000 }
            let clock = AcceptanceClock()
            try await clock.prepare(store)
            #expect(Self.place(by: clock, at: 4_000) == 5_001)
            try await store.close()
        }
    }

    @Test("A page reaches back eight days at most, and ends before the present")
    func pages() async throws {
        try await withTemporaryFolder { folder in
            let store = try await openMessageStore(database: nil, folder: folder, maxPageTime: nil, logger: .init(label: "test"))
            let now: UnixMilliseconds = 1_795_262_462_399
            let draft = LogMessage.sample().draft
            var keys: [ObjectID] = []
            for age in [9 * 86_400_000, 7 * 86_400_000, 59_000, 0] as [Milliseconds] {
                let message = Message(
                    msiKey: ObjectID(), draft: draft, sender: "ann", timestamp: now - age,
                    names: CubeNames(channel: "C", area: "A", subject: "S"), expires: now + 1, relay: Self.record())
                _ = try await store.insert(message)
                try await store.update(message.msiKey) { record, _ in record.accepted = now - age }
                keys.append(message.msiKey)
            }
            let first = try await store.read(ReadAccepted(topics: [draft.topicKey]), now: now)
            #expect(first.messages.map(\.msiKey) == Array(keys.dropFirst()))
            // In whole steps, so that phones that have read everything send the same request.
            #expect(first.next == PageCursor(before: 1_795_262_400_000))
            let again = try await store.read(ReadAccepted(topics: [draft.topicKey], after: first.next), now: now + 1_000)
            #expect(again.messages.map(\.msiKey) == Array(keys.suffix(2)) && again.next == first.next)
            let ancient = ReadAccepted(topics: [draft.topicKey], after: PageCursor(before: 1))
            #expect(try await store.read(ancient, now: now).messages.map(\.msiKey) == Array(keys.dropFirst()))
            try await store.close()
        }
    }
}
