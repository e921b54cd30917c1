import MongoDatabase
import Schemas
import UnreadableDocuments

/// The outbox: the messages that have a next attempt.
extension MongoConnection {
    /// Leases messages that are due, and returns them as they are then.
    func claim(
        _ claim: Claim, lease: Lease, now: UnixMilliseconds, unreadable: UnreadableDocuments
    ) throws -> [Message] {
        var (claim, claimed): (Claim, [Message]) = (claim, [])
        while claim.limit > 0 {
            let candidates = try candidates(for: claim, now: now, unreadable)
            guard !candidates.isEmpty else { break }
            let won = try take(candidates, for: lease, now: now, unreadable)
            claimed += won
            // Whatever another claimant has taken meanwhile leaves room for others.
            guard won.count < candidates.count else { break }
            for message in won {
                claim.room[message.topicKey] = claim.room(for: message.topicKey) - 1
            }
            claim.limit -= won.count
        }
        return claimed
    }

    /// Those that are the messages of their keys. Of the others each may be a copy of one that FCM has already.
    func withoutDuplicates(_ claimed: [Message], _ unreadable: UnreadableDocuments) throws -> [Message] {
        try unreadable.readable(of: claimed, named: \.id.description) { claimed in
            guard let original = try message(["msi_key": claimed.msiKey.bson]), original.message.id != claimed.id else {
                return claimed
            }
            throw Duplicate(of: original.message)
        }
    }

    /// Gives up leases: the messages are due at once.
    func releaseLeases(of owner: String, now: UnixMilliseconds) throws {
        _ = try update(
            [
                "distribution": ["$in": .array(Distribution.allCases.map(\.bson))],
                "relay.next_attempt": Self.dueTime(.max), "relay.lease.owner": owner.bson,
            ],
            [
                "$set": ["relay.next_attempt": now.bson], "$unset": ["relay.lease": ""],
                "$inc": ["relay.revision": .int64(1)],
            ],
            in: MessageCollection.name, all: true)
    }

    /// Messages that have expired and are not leased, the first to expire first.
    func expired(by now: UnixMilliseconds, limit: Int) throws -> [ObjectID] {
        let found = try find(
            [
                "expires": ["$lte": now.bson], "relay.next_attempt": Self.dueTime(.max),
                "msi_key": ["$type": "objectId"],
                "$or": [["relay.lease": nil], ["relay.lease.until": ["$lte": now.bson]]],
            ],
            in: MessageCollection.name,
            options: ["sort": ["expires": 1], "limit": .int64(Int64(limit)), "projection": ["msi_key": 1]])
        return try found.map { try BSONFields($0).value("msi_key") }
    }

    /// Messages that wait for a moment that is still to come, and that a condition is true of.
    func waiting(after now: UnixMilliseconds, where isWanted: (Message) -> Bool) throws -> [ObjectID] {
        var found: [ObjectID] = []
        for distribution in Distribution.allCases {
            var position: Int64 = 0
            while true {
                let documents = try find(
                    ["distribution": distribution.bson, "relay.next_attempt": ["$gt": max(0, now).bson]],
                    in: MessageCollection.name,
                    options: [
                        "sort": ["relay.next_attempt": 1], "skip": .int64(position), "limit": .int64(Self.page),
                        "projection": ["words": 0],
                    ])
                // One that cannot be read has no part in the outbox.
                let messages = documents.compactMap { try? MessageDocument($0).message }
                found += messages.filter(isWanted).map(\.msiKey)
                position += Int64(documents.count)
                guard documents.count == Self.page else { break }
            }
        }
        return found
    }

    /// How many documents are read at a time.
    private static let page: Int64 = 1_000

    /// The identifiers of messages that may be claimed, each topic with its share.
    private func candidates(
        for claim: Claim, now: UnixMilliseconds, _ unreadable: UnreadableDocuments
    ) throws -> [ObjectID] {
        // A look first: most of the time nothing is due.
        let first = try find(
            Self.due(claim.distribution, now), in: MessageCollection.name, options: Self.maxDue(skip: 0, limit: 1))
        guard !first.isEmpty else { return [] }
        // One that cannot be claimed stays the first, and so is named here.
        _ = try unreadable.readable(of: first) { document in
            let fields = try BSONFields(document)
            _ = try fields.value("_id", as: ObjectID.self)
            _ = try fields.fields("relay").value("revision", as: Int64.self)
        }
        var shares = FairShare(of: claim, among: try topics(claim.distribution, now, unreadable))
        var candidates: [ObjectID] = []
        var counts: [TopicKey: Int] = [:]
        while let (topic, count) = shares.next() {
            let ofTopic = Self.due(claim.distribution, now).with("topic_key", topic.bson)
            let found = try identifiers(ofTopic, skip: counts[topic, default: 0], limit: count)
            candidates += found
            counts[topic, default: 0] += found.count
            shares.brought(found.count)
        }
        return candidates
    }

    /// The topics that have messages due, the longest waiting first.
    private func topics(
        _ distribution: Distribution, _ now: UnixMilliseconds, _ unreadable: UnreadableDocuments
    ) throws -> [TopicKey] {
        // In the order of the index, so that the server can go from one topic to the next in it.
        let topics = try aggregate(
            [
                ["$match": .document(Self.due(distribution, now))],
                ["$sort": ["topic_key": 1, "relay.next_attempt": 1]],
                ["$group": ["_id": "$topic_key", "due": ["$first": "$relay.next_attempt"]]],
                ["$sort": ["due": 1]],
            ], in: MessageCollection.name)
        return try unreadable.readable(of: topics) { try BSONFields($0).value("_id") }
    }

    /// Of those that can be messages, the longest due first.
    private func identifiers(_ filter: BSONDocument, skip: Int, limit: Int) throws -> [ObjectID] {
        let found = try find(
            filter.with("_id", ["$type": "objectId"]).with("relay.revision", ["$type": "number"]), in: MessageCollection.name,
            options: Self.maxDue(skip: skip, limit: limit))
        return try found.map { try BSONFields($0).value("_id") }
    }

    private static func maxDue(skip: Int, limit: Int) -> BSONDocument {
        [
            "sort": ["relay.next_attempt": 1], "skip": .int64(Int64(skip)), "limit": .int64(Int64(limit)),
            "projection": ["_id": 1, "relay.revision": 1],
        ]
    }

    /// Leases those of the messages that are still due, and returns them as they are then.
    private func take(
        _ candidates: [ObjectID], for lease: Lease, now: UnixMilliseconds, _ unreadable: UnreadableDocuments
    ) throws -> [Message] {
        // Tells what is taken now from what the same owner has taken in the same millisecond.
        let claim = ObjectID()
        let among: BSONValue = ["$in": candidates.bson]
        _ = try update(
            ["_id": among, "relay.next_attempt": Self.dueTime(now)],
            [
                "$set": [
                    "relay.lease": .document(lease.document.with("claim", claim.bson)),
                    "relay.next_attempt": lease.until.bson,
                ],
                "$inc": ["relay.revision": .int64(1)],
            ],
            in: MessageCollection.name, all: true)
        let taken = try find(
            ["_id": among, "relay.lease.claim": claim.bson], in: MessageCollection.name, options: ["projection": ["words": 0]])
        // One that cannot be read is out of the others' way as long as the lease lasts.
        let messages = try unreadable.readable(of: taken) { try MessageDocument($0).message }
        let byIdentifier = Dictionary(messages.map { ($0.id, $0) }) { first, _ in first }
        return candidates.compactMap { byIdentifier[$0] }
    }

    private static func due(_ distribution: Distribution, _ now: UnixMilliseconds) -> BSONDocument {
        ["distribution": distribution.bson, "relay.next_attempt": dueTime(now)]
    }

    /// The lower bound is that of the outbox's indexes, which the server uses only for what is surely in them.
    private static func dueTime(_ now: UnixMilliseconds) -> BSONValue {
        ["$gte": .int64(0), "$lte": now.bson]
    }
}

/// A document has the key of another one.
private struct Duplicate: Error, CustomStringConvertible {
    let description: String

    init(of original: Message) {
        description = "document \(original.id) has its msi_key \(original.msiKey) as well; remove one of the two"
    }
}
