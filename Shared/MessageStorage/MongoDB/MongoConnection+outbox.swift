import MongoDatabase
import Schemas
import UnreadableDocuments

/// The outbox: the messages and pushes with a next attempt.
extension MongoConnection {
    /// Leases due items, and returns them with the lease.
    func claim(
        _ claim: Claim, lease: Lease, now: UnixMilliseconds, unreadable: UnreadableItems
    ) throws -> [OutboxItem] {
        var (claim, claimed): (Claim, [OutboxItem]) = (claim, [])
        while claim.limit > 0 {
            let candidates = try candidates(for: claim, now: now, unreadable)
            guard !candidates.isEmpty else { break }
            let won = try take(candidates, for: lease, now: now, unreadable)
            claimed += won
            // Messages that another claimant has taken meanwhile leave room for more.
            guard won.count < candidates.count else { break }
            for item in won { claim.room[item.fairnessKey] = claim.room(for: item.fairnessKey) - 1 }
            claim.limit -= won.count
        }
        return claimed
    }

    /// The claimed items without duplicates of messages. A duplicate may be a copy of a message that FCM has already.
    func withoutDuplicates(_ claimed: [OutboxItem], _ unreadable: UnreadableItems) throws -> [OutboxItem] {
        try unreadable.messages.readable(of: claimed, named: { $0.message?.id.description ?? "" }) { item in
            guard let claimed = item.message, let original = try message(["msi_key": claimed.msiKey.bson]),
                original.message.id != claimed.id
            else { return item }
            throw Duplicate(of: original.message)
        }
    }

    /// Releases leases. The items are due at once.
    func releaseLeases(of owner: String, now: UnixMilliseconds) throws {
        for collection in OutboxCollection.all {
            _ = try update(
                [
                    collection.urgencyField: ["$in": .array(Urgency.allCases.map(collection.urgencyValue))],
                    "relay.next_attempt": OutboxCollection.dueTime(.max), "relay.lease.owner": owner.bson,
                ],
                [
                    "$set": ["relay.next_attempt": now.bson], "$unset": ["relay.lease": ""],
                    "$inc": ["relay.revision": .int64(1)],
                ],
                in: collection.name, all: true)
        }
    }

    /// Expired items that are not leased, in the order of their expiry.
    func expired(by now: UnixMilliseconds, limit: Int) throws -> [OutboxKey] {
        let messages = try expired(in: .messages, by: now, limit: limit).map {
            (key: OutboxKey.message($0.key), expires: $0.expires)
        }
        let pushes = try expired(in: .pushes, by: now, limit: limit).map { (key: OutboxKey.push($0.key), expires: $0.expires) }
        return (messages + pushes).sorted { $0.expires < $1.expires }.prefix(limit).map(\.key)
    }

    private func expired(
        in collection: OutboxCollection, by now: UnixMilliseconds, limit: Int
    ) throws -> [(key: ObjectID, expires: UnixMilliseconds)] {
        let found = try find(
            [
                "expires": ["$lte": now.bson], "relay.next_attempt": OutboxCollection.dueTime(.max),
                collection.keyField: ["$type": "objectId"],
                "$or": [["relay.lease": nil], ["relay.lease.until": ["$lte": now.bson]]],
            ],
            in: collection.name,
            options: [
                "sort": ["expires": 1], "limit": .int64(Int64(limit)), "projection": [collection.keyField: 1, "expires": 1],
            ])
        return try found.map { document in
            let fields = try BSONFields(document)
            let (key, expires): (ObjectID, UnixMilliseconds) = (
                try fields.value(collection.keyField), try fields.value("expires")
            )
            return (key: key, expires: expires)
        }
    }

    /// Items whose next attempt is in the future and that satisfy a condition.
    func waiting(after now: UnixMilliseconds, where isWanted: (OutboxItem) -> Bool) throws -> [OutboxKey] {
        var found: [OutboxKey] = []
        for collection in OutboxCollection.all {
            for urgency in Urgency.allCases {
                var position: Int64 = 0
                while true {
                    let documents = try find(
                        [
                            collection.urgencyField: collection.urgencyValue(urgency),
                            "relay.next_attempt": ["$gt": max(0, now).bson],
                        ],
                        in: collection.name,
                        options: [
                            "sort": ["relay.next_attempt": 1], "skip": .int64(position), "limit": .int64(Self.page),
                            "projection": ["words": 0],
                        ])
                    // An unreadable document is not part of the outbox.
                    let items = documents.compactMap { try? collection.item($0) }
                    found += items.filter(isWanted).map(\.key)
                    position += Int64(documents.count)
                    guard documents.count == Self.page else { break }
                }
            }
        }
        return found
    }

    /// The number of documents that are read at a time.
    private static let page: Int64 = 1_000

    /// A document that may be claimed.
    private struct Candidate: Hashable {
        let isPush: Bool
        let id: ObjectID
    }

    /// The documents to claim, each key with its share.
    private func candidates(for claim: Claim, now: UnixMilliseconds, _ unreadable: UnreadableItems) throws -> [Candidate] {
        // Check first: most of the time nothing is due.
        var isDue = false
        for collection in OutboxCollection.all {
            let first = try find(
                collection.due(claim.urgency, now), in: collection.name, options: Self.longestDue(skip: 0, limit: 1))
            isDue = isDue || !first.isEmpty
            // A document that cannot be claimed stays the first one, so it is reported here.
            _ = try unreadable.of(collection).readable(of: first) { document in
                let fields = try BSONFields(document)
                _ = try fields.value("_id", as: ObjectID.self)
                _ = try fields.fields("relay").value("revision", as: Int64.self)
            }
        }
        guard isDue else { return [] }
        var shares = FairShare(of: claim, among: try keys(claim.urgency, now, unreadable))
        var candidates: [Candidate] = []
        var counts: [FairnessKey: Int] = [:]
        while let (key, count) = shares.next() {
            let (collection, value) = OutboxCollection.of(key)
            let ofKey = collection.due(claim.urgency, now).with(collection.fairnessField, value)
            let found = try identifiers(ofKey, in: collection, skip: counts[key, default: 0], limit: count)
            candidates += found.map { Candidate(isPush: collection.name == PushCollection.name, id: $0) }
            counts[key, default: 0] += found.count
            shares.brought(found.count)
        }
        return candidates
    }

    /// The keys with due items, the longest waiting first.
    private func keys(
        _ urgency: Urgency, _ now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [FairnessKey] {
        let topics = try dueKeys(in: .messages, urgency, now, unreadable) { FairnessKey.topic(try $0.value("_id")) }
        let named = try dueKeys(in: .pushes, urgency, now, unreadable) { FairnessKey.named(try $0.value("_id")) }
        return (topics + named).sorted { $0.due < $1.due }.map(\.key)
    }

    /// A key with due items.
    private struct DueKey {
        let key: FairnessKey
        let due: UnixMilliseconds
    }

    private func dueKeys(
        in collection: OutboxCollection, _ urgency: Urgency, _ now: UnixMilliseconds, _ unreadable: UnreadableItems,
        fairnessKey: (BSONFields) throws -> FairnessKey
    ) throws -> [DueKey] {
        // In the order of the index, so that the server can skip from one key to the next.
        let byKey = BSONDocument([(collection.fairnessField, .int32(1)), ("relay.next_attempt", .int32(1))])
        let group: BSONDocument = [
            "_id": .string("$" + collection.fairnessField), "due": ["$first": "$relay.next_attempt"],
        ]
        let steps: [BSONDocument] = [
            ["$match": .document(collection.due(urgency, now))], ["$sort": .document(byKey)], ["$group": .document(group)],
        ]
        let groups = try aggregate(steps, in: collection.name)
        return try unreadable.of(collection).readable(of: groups) { group in
            let fields = try BSONFields(group)
            return DueKey(key: try fairnessKey(fields), due: try fields.value("due"))
        }
    }

    /// The identifiers of possible items, the longest due first.
    private func identifiers(
        _ filter: BSONDocument, in collection: OutboxCollection, skip: Int, limit: Int
    ) throws -> [ObjectID] {
        let found = try find(
            filter.with("_id", ["$type": "objectId"]).with("relay.revision", ["$type": "number"]), in: collection.name,
            options: Self.longestDue(skip: skip, limit: limit))
        return try found.map { try BSONFields($0).value("_id") }
    }

    private static func longestDue(skip: Int, limit: Int) -> BSONDocument {
        [
            "sort": ["relay.next_attempt": 1], "skip": .int64(Int64(skip)), "limit": .int64(Int64(limit)),
            "projection": ["_id": 1, "relay.revision": 1],
        ]
    }

    /// Leases the candidates that are still due, and returns them with the lease.
    private func take(
        _ candidates: [Candidate], for lease: Lease, now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [OutboxItem] {
        // Distinguishes this claim from another one of the same owner in the same millisecond.
        let claim = ObjectID()
        var taken: [Candidate: OutboxItem] = [:]
        for collection in OutboxCollection.all {
            let isPush = collection.name == PushCollection.name
            let identifiers = candidates.filter { $0.isPush == isPush }.map(\.id)
            guard !identifiers.isEmpty else { continue }
            let among: BSONValue = ["$in": identifiers.bson]
            _ = try update(
                ["_id": among, "relay.next_attempt": OutboxCollection.dueTime(now)],
                [
                    "$set": [
                        "relay.lease": .document(lease.document.with("claim", claim.bson)),
                        "relay.next_attempt": lease.until.bson,
                    ],
                    "$inc": ["relay.revision": .int64(1)],
                ],
                in: collection.name, all: true)
            let documents = try find(
                ["_id": among, "relay.lease.claim": claim.bson], in: collection.name, options: ["projection": ["words": 0]])
            // An unreadable document does not block the others while its lease lasts.
            for item in try unreadable.of(collection).readable(of: documents, as: collection.item) {
                taken[Candidate(isPush: isPush, id: item.message?.id ?? item.push?.id ?? claim)] = item
            }
        }
        return candidates.compactMap { taken[$0] }
    }
}

extension OutboxCollection {
    /// Reads the item of a document.
    fileprivate func item(_ document: BSONDocument) throws -> OutboxItem {
        name == PushCollection.name
            ? .push(try PushDocument(document).push) : .message(try MessageDocument(document).message)
    }
}

/// How unreadable documents of each collection are treated.
struct UnreadableItems: Sendable {
    let messages: UnreadableDocuments
    let pushes: UnreadableDocuments

    func of(_ collection: OutboxCollection) -> UnreadableDocuments {
        collection.name == PushCollection.name ? pushes : messages
    }
}

/// A document has the same key as another one.
private struct Duplicate: Error, CustomStringConvertible {
    let description: String

    init(of original: Message) {
        description = "document \(original.id) has its msi_key \(original.msiKey) as well; remove one of the two"
    }
}
