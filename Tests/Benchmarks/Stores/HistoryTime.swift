import Archive
import Schemas
import TestSupport

/// The time to read a page of the archive: the first, one from the middle, one of a channel, one of a search, one of a person who
/// may see 1,000 topics, among them most of those with messages, and one of a person of whose 1,000 topics only one has messages.
struct HistoryTime {
    static let pages = ["first", "middle", "channel", "search", "most topics", "rare topic"]

    let scale: Scale

    var repetitions: Int { scale.pick(101, smoke: 3) }
    /// Of those without messages, which a person may see.
    private var unusedTopics: [TopicKey] { Array(SampleMessage.unusedTopics.prefix(scale.pick(980, smoke: 20))) }
    /// The number of messages of a page.
    var limit: Int { scale.pick(50, smoke: 3) }

    /// Fills an archive. Timestamps are a second apart.
    static func fill(_ store: any MessageStore, with messages: Int) async throws {
        let batch = 100
        for start in stride(from: 0, to: messages, by: batch) {
            try await concurrently(min(batch, messages - start)) { number in
                let number = start + number
                return try await store.insert(
                    SampleMessage.make(number, timestamp: UnixMilliseconds(rawValue: Int64(number) * 1_000), state: .relayed))
            }
        }
    }

    /// The median time of each of ``pages``, in milliseconds.
    func measure(_ store: any MessageStore, of messages: Int) async throws -> [Double] {
        var channel = MessageFilter()
        channel.channel = SampleMessage.channel
        var search = MessageFilter()
        search.text = SearchQuery("storm library")
        var most = MessageFilter()
        most.topics = SampleMessage.topics.dropFirst() + unusedTopics
        var rare = MessageFilter()
        rare.topics = SampleMessage.topics.prefix(1) + unusedTopics
        let middle = PageCursor(timestamp: UnixMilliseconds(rawValue: Int64(messages / 2) * 1_000), msiKey: ObjectID())
        return [
            try await time { try await store.page(MessageFilter(), before: nil, limit: limit) },
            try await time { try await store.page(MessageFilter(), before: middle, limit: limit) },
            try await time { try await store.page(channel, before: middle, limit: limit) },
            try await time { try await store.page(search, before: middle, limit: limit) },
            try await time { try await store.page(most, before: middle, limit: limit) },
            try await time { try await store.page(rare, before: middle, limit: limit) },
        ]
    }

    private func time(_ page: () async throws -> [Message]) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<repetitions {
            let start = ContinuousClock.now
            let messages = try await page()
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            guard messages.count == limit else { throw PeerFailure(description: "a page has \(messages.count) messages") }
        }
        return times.median
    }
}
