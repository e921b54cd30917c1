import Bus
import Archive
import Schemas
import TestSupport
import Testing
import Base

@testable import MessageLog

/// How many phones a topic reaches, as far as the archive knows.
@Suite("Reach of a topic", .timeLimit(.minutes(10)))
struct ReachTests {
    private static let start: UnixMilliseconds = 1_800_000_000_000

    private static func message(_ number: Int, topic: TopicKey = .sample) -> Message {
        let time = start + .seconds(Int64(number))
        return Message(
            msiKey: ObjectID(),
            content: MessageContent(title: "\(number)", desc: "d", message: "m", topicKey: topic, distribution: .alert),
            sender: "ann", timestamp: time, names: CubeNames(channel: "C", area: "A", subject: "S"), expires: time + 3_600_000,
            idempotencyKey: nil, relay: RelayRecord(logged: .alert, due: time))
    }

    @Test("The message counts that most phones have received of the newest ones, and of old ones the newest")
    func counted() async throws {
        try await withArchive { store in
            let messages = (0..<60).map { Self.message($0) }
            let other = Self.message(70, topic: TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()))
            for message in messages + [other] { _ = try await store.insert(message) }
            func reach(after time: Milliseconds = 0) async throws -> ReceivedMessage? {
                try await store.reach(of: .sample, now: Self.start + 100_000 + time, checkStillWanted: {}).counted
            }
            #expect(try await reach() == nil)
            let counts: [(Message, Int64)] = [(messages[5], 900), (messages[30], 40), (messages[40], 12), (other, 5_000)]
            try await store.set(
                Dictionary(uniqueKeysWithValues: counts.map { ($0.msiKey, MessageReceipts(received: $1, opened: 0)) }))
            // The first ten messages are no longer counted.
            let most = messages[30]
            #expect(try await reach() == ReceivedMessage(msiKey: most.msiKey, timestamp: most.timestamp, received: 40))
            #expect(try await reach(after: ReadReach.recency + 1)?.msiKey == messages[40].msiKey)
        }
    }

    @Test("What phones have reported is the reach of a topic, over the bus", arguments: StoreKind.ofRules)
    func overTheBus(_ kind: StoreKind) async throws {
        try await RunningMessageLog.with(on: kind) { log in
            let empty = try await log.client.request(ReadReach(topicKey: .sample))
            #expect(empty == ReadReach.Reply(counted: nil, installations: 0))
            let (one, other) = (try await log.log(.sample()), try await log.log(.sample()))
            for keys in [[one.msiKey], [one.msiKey, other.msiKey]] {
                _ = try await log.client.request(
                    AddReceipts(installation: ObjectID(), report: 1, received: keys, opened: []))
            }
            let known = try await log.client.request(ReadReach(topicKey: .sample))
            let counted = ReceivedMessage(msiKey: one.msiKey, timestamp: one.timestamp, received: 2)
            #expect(known == ReadReach.Reply(counted: counted, installations: 2))
            let elsewhere = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
            #expect(try await log.client.request(ReadReach(topicKey: elsewhere)).counted == nil)
        }
    }
}
