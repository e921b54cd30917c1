import Schemas

/// Divides the room of a claim among the topics that have messages due: in rounds, each topic the same share in each, until
/// the room is used up or no topic has more. One flooded topic so never keeps the others waiting. Pure.
///
/// Ask for ``next()``, take so many messages of that topic, and say with ``brought(_:)`` how many there were.
struct FairShare {
    private var remaining: Int
    /// The topics that may have more, and how much room there is for each.
    private var round: ArraySlice<(topic: TopicKey, room: Int)>
    private var nextRound: [(topic: TopicKey, room: Int)] = []
    private var share: Int
    private var asked: (topic: TopicKey, room: Int, count: Int)?

    /// - Parameter topics: Those that have messages due, the longest waiting first.
    init(of claim: Claim, among topics: [TopicKey]) {
        remaining = claim.limit
        round = topics.map { ($0, claim.room(for: $0)) }.filter { $0.1 > 0 }[...]
        share = Self.share(of: remaining, among: round.count)
    }

    /// The next topic to take messages of, and how many at most.
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

    /// How many messages of the topic there were.
    mutating func brought(_ count: Int) {
        guard let asked else { return }
        remaining -= count
        // One that had all that was asked for may have more.
        if count == asked.count, asked.room > count { nextRound.append((asked.topic, asked.room - count)) }
        self.asked = nil
    }

    private static func share(of room: Int, among topics: Int) -> Int {
        topics == 0 ? 0 : max(1, room / topics)
    }
}
