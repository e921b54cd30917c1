import Schemas

/// Divides the room of a claim among the topics with due messages. It works in rounds with equal shares, until the room is used
/// up or no topic has more. So one flooded topic does not delay the others. Pure.
///
/// Call ``next()``, take up to that many messages of the topic, and report their number with ``brought(_:)``.
struct FairShare {
    private var remaining: Int
    /// The topics that may have more messages, and the room for each.
    private var round: ArraySlice<(topic: TopicKey, room: Int)>
    private var nextRound: [(topic: TopicKey, room: Int)] = []
    private var share: Int
    private var asked: (topic: TopicKey, room: Int, count: Int)?

    /// - Parameter topics: The topics with due messages, the longest waiting first.
    init(of claim: Claim, among topics: [TopicKey]) {
        remaining = claim.limit
        round = topics.map { ($0, claim.room(for: $0)) }.filter { $0.1 > 0 }[...]
        share = Self.share(of: remaining, among: round.count)
    }

    /// The next topic, and the maximum number of messages to take.
    mutating func next() -> (topic: TopicKey, count: Int)? {
        if round.isEmpty {
            round = nextRound[...]
            nextRound = []
            share = Self.share(of: remaining, among: round.count)
        }
        guard remaining > 0, let (topic, room) = round.popFirst() else { return nil }
        let count = min(share, room, remaining)
        asked = (topic, room, count)
        return (topic, count)
    }

    /// Reports how many messages of the topic there were.
    mutating func brought(_ count: Int) {
        guard let asked else { return }
        remaining -= count
        // A topic that used up its share may have more.
        if count == asked.count, asked.room > count { nextRound.append((asked.topic, asked.room - count)) }
        self.asked = nil
    }

    private static func share(of room: Int, among topics: Int) -> Int {
        topics == 0 ? 0 : max(1, room / topics)
    }
}
