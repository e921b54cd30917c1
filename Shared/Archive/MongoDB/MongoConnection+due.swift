import Store
import Schemas

/// Searches for due items.
extension MongoConnection {
    /// The documents to claim: of each key as many as its share.
    ///
    /// - Parameter tried: Candidates that this claim has tried to lease already.
    func candidates(
        for claim: Claim, without tried: Set<ClaimCandidate>, now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [ClaimCandidate] {
        let keys = DueKey.merged(
            try OutboxCollection.of(claim.queue).flatMap { try dueKeys(in: $0, claim, without: tried, now, unreadable) }
                .sorted { $0.due < $1.due })
        guard !keys.isEmpty else { return [] }
        var listed = Dictionary(uniqueKeysWithValues: keys.map { ($0.key, $0) })
        var shares = FairShare(of: claim, among: keys.map(\.key))
        var candidates: [ClaimCandidate] = []
        var counts: [FairnessKey: Int] = [:]
        while let (key, count) = shares.next() {
            let collection = OutboxCollection.of(key, in: claim.queue)
            let found: [ObjectID]
            if let identifiers = listed[key]?.identifiers {
                found = Array(identifiers.prefix(count))
                listed[key]?.identifiers = Array(identifiers.dropFirst(count))
            } else {
                let spellings = Array(listed[key]?.spellings ?? [])
                // What the other queue has leased could not be leased, and would be found again.
                let ofKey = collection.due(claim.urgency, now).with(collection.fairnessField, ["$in": spellings.bson])
                    .with("$nor", OutboxCollection.leased(now))
                found = try identifiers(ofKey, in: collection, skip: counts[key, default: 0], limit: count)
            }
            candidates += found.map { ClaimCandidate(isPush: collection.isPush, id: $0) }
            counts[key, default: 0] += found.count
            shares.brought(found.count)
        }
        return candidates
    }

    /// A key with due items.
    private struct DueKey {
        let key: FairnessKey
        /// How documents spell it: other programs may write the digits of a topic in upper case.
        var spellings: Set<String>
        let due: UnixMilliseconds
        /// Its due items, the longest due first; `nil` if they are not known yet.
        var identifiers: [ObjectID]?

        /// Each key once, in the order of its first place.
        static func merged(_ keys: [DueKey]) -> [DueKey] {
            var positions: [FairnessKey: Int] = [:]
            var merged: [DueKey] = []
            for key in keys {
                if let position = positions[key.key] {
                    merged[position].spellings.formUnion(key.spellings)
                    merged[position].identifiers? += key.identifiers ?? []
                } else {
                    positions[key.key] = merged.count
                    merged.append(key)
                }
            }
            return merged
        }
    }

    /// The keys with due items: all of them, or as many as there is room for items in the claim.
    private func dueKeys(
        in collection: OutboxCollection, _ claim: Claim, without tried: Set<ClaimCandidate>, _ now: UnixMilliseconds,
        _ unreadable: UnreadableItems
    ) throws -> [DueKey] {
        try keysByTime(in: collection, claim, without: tried, now, unreadable)
            ?? keysOneByOne(in: collection, claim.urgency, now, unreadable)
    }

    /// Skips from one key to the next in an index. The cost depends on the number of keys with outstanding items, due or not.
    private func keysOneByOne(
        in collection: OutboxCollection, _ urgency: Urgency, _ now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [DueKey] {
        // In the order of the index, so that the server can skip from one key to the next.
        let byKey = BSONDocument([(collection.fairnessField, .int32(1)), (collection.dueField, .int32(1))])
        let group: BSONDocument = [
            "_id": .string("$" + collection.fairnessField), "due": ["$first": .string("$" + collection.dueField)],
        ]
        let steps: [BSONDocument] = [
            ["$match": .document(collection.due(urgency, now))], ["$sort": .document(byKey)], ["$group": .document(group)],
        ]
        let groups = try aggregate(steps, in: collection.name)
        return try unreadable.of(collection).readable(of: groups) { group in
            let fields = try BSONFields(group)
            return DueKey(
                key: try collection.fairnessKey(fields, "_id"), spellings: [try fields.value("_id")],
                due: try fields.value("due"))
        }
    }

    /// Reads the due items in the order of time, without their documents. Most of the time few are due, and one read finds them all.
    /// It is also faster if there are many keys without due items, such as one for each phone.
    ///
    /// - Returns: `nil` if it has not found enough keys, and there are more due items.
    private func keysByTime(
        in collection: OutboxCollection, _ claim: Claim, without tried: Set<ClaimCandidate>, _ now: UnixMilliseconds,
        _ unreadable: UnreadableItems
    ) throws -> [DueKey]? {
        let limit = max(collection.firstSearch, claim.limit + tried.count + 1)
        let documents = try find(
            collection.due(claim.urgency, now), in: collection.name,
            options: [
                "sort": [collection.dueField: 1], "limit": .int64(Int64(limit)),
                // The index contains all these fields.
                "projection": ["_id": 1, collection.fairnessField: 1, collection.dueField: 1],
            ])
        let due: [DueKey?] = try unreadable.of(collection).readable(of: documents) { document in
            let fields = try BSONFields(document)
            let candidate = ClaimCandidate(isPush: collection.isPush, id: try fields.value("_id"))
            guard !tried.contains(candidate) else { return nil }
            return DueKey(
                key: try collection.fairnessKey(fields, collection.fairnessField),
                spellings: [try fields.value(collection.fairnessField)],
                due: try fields.fields("relay").value(collection.dueName), identifiers: [candidate.id])
        }
        let keys = DueKey.merged(due.compactMap(\.self).filter { claim.room(for: $0.key) > 0 })
        return documents.count < limit || keys.count >= claim.limit ? keys : nil
    }

    /// Reports candidates that can never be leased: the server cannot count the changes of their records.
    func reportUncountable(_ candidates: Set<ClaimCandidate>, _ unreadable: UnreadableItems) throws {
        for collection in OutboxCollection.all {
            let identifiers = candidates.filter { $0.isPush == collection.isPush }.map(\.id)
            guard !identifiers.isEmpty else { continue }
            let found = try find(
                ["_id": ["$in": identifiers.bson], "relay.revision": ["$not": ["$type": "number"]]], in: collection.name,
                options: ["projection": ["_id": 1, "relay.revision": 1]])
            _ = try unreadable.of(collection).readable(of: found) {
                try BSONFields($0).fields("relay").value("revision", as: Int64.self)
            }
        }
    }

    /// The identifiers of possible items, the longest due first.
    private func identifiers(
        _ filter: BSONDocument, in collection: OutboxCollection, skip: Int, limit: Int
    ) throws -> [ObjectID] {
        let found = try find(
            filter.with("_id", ["$type": "objectId"]).with("relay.revision", ["$type": "number"]), in: collection.name,
            options: Self.byDueTime(in: collection, skip: skip, limit: limit))
        return try found.map { try BSONFields($0).value("_id") }
    }

    /// The options of a search for identifiers, the push or message that is due first in front.
    private static func byDueTime(in collection: OutboxCollection, skip: Int, limit: Int) -> BSONDocument {
        [
            "sort": [collection.dueField: 1], "skip": .int64(Int64(skip)), "limit": .int64(Int64(limit)),
            "projection": ["_id": 1, "relay.revision": 1],
        ]
    }
}
