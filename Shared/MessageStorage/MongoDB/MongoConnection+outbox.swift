import MongoDatabase
import Schemas
import UnreadableDocuments

/// The outbox: the messages with a next attempt.
extension MongoConnection {
    /// Leases due messages, and returns them with the lease.
    func claim(
        _ claim: Claim, lease: Lease, now: UnixMilliseconds, unreadable: UnreadableDocuments
    ) throws -> [Message] {
        var (claim, claimed): (Claim, [Message]) = (claim, [])
        while claim.limit > 0 {
            let candidates = try candidates(for: claim, now: now, unreadable)
            guard !candidates.isEmpty else { break }
            let won = try take(candidates, for: lease, now: now, unreadable)
            claimed += won
            // Messages that another claimant has taken meanwhile leave room for more.
            guard won.count < candidates.count else { break }
            for message in won {
                claim.room[message.topicKey] = claim.room(for: message.topicKey) - 1
            }
            claim.limit -= won.count
        }
        return claimed
    }

    /// The claimed documents without duplicates. A duplicate may be a copy of a message that FCM has already.
    func withoutDuplicates(_ claimed: [Message], _ unreadable: UnreadableDocuments) throws -> [Message] {
        try unreadable.readable(of: claimed, named: \.id.description) { claimed in
            guard let original = try message(["msi_key": claimed.msiKey.bson]), original.message.id != claimed.id else {
                return claimed
            }
            throw Duplicate(of: original.message)
        }
    }

    /// Releases leases. The messages are due at once.
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

    /// Expired messages that are not leased, in the order of their expiry.
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

    /// Messages whose next attempt is in the future and that satisfy a condition.
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
                // An unreadable document is not part of the outbox.
                let messages = documents.compactMap { try? MessageDocument($0).message }
                found += messages.filter(isWanted).map(\.msiKey)
                position += Int64(documents.count)
                guard documents.count == Self.page else { break }
            }
        }
        return found
    }

    /// The number of documents that are read at a time.
    private static let page: Int64 = 1_000

    /// The identifiers of messages to claim, each topic with its share.
    private func candidates(
        for claim: Claim, now: UnixMilliseconds, _ unreadable: UnreadableDocuments
    ) throws -> [ObjectID] {
        // Check first: most of the time nothing is due.
        let first = try find(
            Self.due(claim.distribution, now), in: MessageCollection.name, options: Self.maxDue(skip: 0, limit: 1))
        guard !first.isEmpty else { return [] }
        // A document that cannot be claimed stays the first one, so it is reported here.
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

    /// The topics with due messages, the longest waiting first.
    private func topics(
        _ distribution: Distribution, _ now: UnixMilliseconds, _ unreadable: UnreadableDocuments
    ) throws -> [TopicKey] {
        // In the order of the index, so that the server can skip from one topic to the next.
        let topics = try aggregate(
            [
                ["$match": .document(Self.due(distribution, now))],
                ["$sort": ["topic_key": 1, "relay.next_attempt": 1]],
                ["$group": ["_id": "$topic_key", "due": ["$first": "$relay.next_attempt"]]],
                ["$sort": ["due": 1]],
            ], in: MessageCollection.name)
        return try unreadable.readable(of: topics) { try BSONFields($0).value("_id") }
    }

    /// The identifiers of possible messages, the longest due first.
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

    /// Leases the messages that are still due, and returns them with the lease.
    private func take(
        _ candidates: [ObjectID], for lease: Lease, now: UnixMilliseconds, _ unreadable: UnreadableDocuments
    ) throws -> [Message] {
        // Distinguishes this claim from another one of the same owner in the same millisecond.
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
        // An unreadable document does not block the others while its lease lasts.
        let messages = try unreadable.readable(of: taken) { try MessageDocument($0).message }
        let byIdentifier = Dictionary(messages.map { ($0.id, $0) }) { first, _ in first }
        return candidates.compactMap { byIdentifier[$0] }
    }

    private static func due(_ distribution: Distribution, _ now: UnixMilliseconds) -> BSONDocument {
        ["distribution": distribution.bson, "relay.next_attempt": dueTime(now)]
    }

    /// The lower bound is part of the indexes' filter. Without it the server does not use them.
    private static func dueTime(_ now: UnixMilliseconds) -> BSONValue {
        ["$gte": .int64(0), "$lte": now.bson]
    }
}

/// A document has the same key as another one.
private struct Duplicate: Error, CustomStringConvertible {
    let description: String

    init(of original: Message) {
        description = "document \(original.id) has its msi_key \(original.msiKey) as well; remove one of the two"
    }
}
