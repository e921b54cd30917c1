import Archive
import Base
import Schemas
import TestSupport

/// An archive of messages that are due and that no relay has taken, as after an outage of all relays.
struct DueArchive {
    /// The maximum number of messages that are inserted, or settled, at once.
    private static let batch = 224
    private static let maxPerTopic = 128
    private static let topics = (0..<50).map { _ in TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID()) }
    /// Of the oldest message.
    private static let age: Milliseconds = 3_600_000
    private static let leaseTime: Milliseconds = 60_000
    /// As FCM names an accepted message.
    private static let name = "projects/\(RelayedMessage.project)/messages/0:1795262462412009%b611fad549928558"

    let count: Int
    /// The state directory.
    let folder: String

    /// Information: one send of data.
    static func content(_ topic: TopicKey) -> MessageContent {
        MessageContent(
            title: "Library", desc: "",
            message: "The library and the canteen stay closed until tomorrow at noon. All lectures of today are cancelled.",
            topicKey: topic, distribution: .information)
    }

    /// Makes the archive. No message log may have it open.
    func fill() async throws {
        try await withStore { store in
            let begin = UnixMilliseconds.now - Self.age
            for start in stride(from: 0, to: count, by: Self.batch) {
                try await concurrently(min(Self.batch, count - start)) { [count] offset in
                    let number = start + offset
                    let time = begin + Milliseconds(rawValue: Self.age.rawValue * Int64(number) / Int64(count))
                    _ = try await store.insert(Self.message(Self.topics[number % Self.topics.count], at: time))
                }
            }
        }
    }

    /// Lets the store alone do what it does for a message that is relayed: claims them, and stores the outcomes. The archive is used up
    /// afterwards.
    ///
    /// - Returns: Messages a second.
    func settle() async throws -> Double {
        try await withStore { store in
            let begin = ContinuousClock.now
            var settled = 0
            while true {
                let lease = Lease(owner: "benchmark", until: .now + Self.leaseTime)
                let claim = Claim(.normal, limit: Self.batch, maxPerKey: Self.maxPerTopic)
                let messages = try await store.claim(claim, lease: lease, now: .now).compactMap(\.message)
                guard !messages.isEmpty else { break }
                let outcomes = try await concurrently(messages.count) { number in
                    let message = messages[number]
                    return try await store.settle(.message(message.msiKey), leased: lease, Self.relayed(at: .now))
                }
                settled += outcomes.count { $0 }
            }
            guard settled == count else { throw PeerFailure(description: "\(settled) of \(count) messages were settled") }
            return Double(count) / ((ContinuousClock.now - begin) / .seconds(1))
        }
    }

    private func withStore<Value>(_ body: (SQLiteMessageStore) async throws -> Value) async throws -> Value {
        let store = try SQLiteMessageStore(path: folder + "/message-log.sqlite")
        return try await perform {
            try await body(store)
        } finally: {
            try await store.close()
        }
    }

    private static func message(_ topic: TopicKey, at timestamp: UnixMilliseconds) -> Message {
        Message(
            msiKey: ObjectID(), content: content(topic), sender: "benchmark", timestamp: timestamp,
            names: CubeNames(channel: "Campus", area: "Library", subject: "Hours"), expires: timestamp + 2_419_200_000,
            relay: RelayRecord(logged: .information, due: timestamp))
    }

    private static func relayed(at now: UnixMilliseconds) -> RelayRecord {
        RelayRecord(
            state: .relayed, attempts: 1, nextAttempt: nil, ended: now, accepted: now,
            components: [ComponentRecord(component: .data, state: .accepted, name: name, acceptedAt: now)])
    }
}
