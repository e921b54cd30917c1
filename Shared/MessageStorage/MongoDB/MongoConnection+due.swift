import MongoDatabase
import Schemas
import UnreadableDocuments

/// Searches for due items.
extension MongoConnection {
    /// The documents to claim: of each key as many as its share.
    ///
    /// - Parameter tried: Candidates that this claim has tried to lease already.
    func candidates(
        for claim: Claim, without tried: Set<ClaimCandidate>, now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [ClaimCandidate] {
        // Check first: most of the time nothing is due.
        var isDue = false
        for collection in OutboxCollection.all {
            let first = try find(
                collection.due(claim.urgency, now), in: collection.name, options: Self.byDueTime(skip: 0, limit: 1))
            isDue = isDue || !first.isEmpty
            // A document that cannot be claimed stays the first one, so it is reported here.
            _ = try unreadable.of(collection).readable(of: first) { document in
                let fields = try BSONFields(document)
                _ = try fields.value("_id", as: ObjectID.self)
                _ = try fields.fields("relay").value("revision", as: Int64.self)
            }
        }
        guard isDue else { return [] }
        let keys = try keys(claim, without: tried, now, unreadable)
        var listed = Dictionary(uniqueKeysWithValues: keys.map { ($0.key, $0) })
        var shares = FairShare(of: claim, among: keys.map(\.key))
        var candidates: [ClaimCandidate] = []
        var counts: [FairnessKey: Int] = [:]
        while let (key, count) = shares.next() {
            let collection = OutboxCollection.of(key)
            let found: [ObjectID]
            if let identifiers = listed[key]?.identifiers {
                found = Array(identifiers.prefix(count))
                listed[key]?.identifiers = Array(identifiers.dropFirst(count))
            } else {
                let spellings = Array(listed[key]?.spellings ?? [])
                let ofKey = collection.due(claim.urgency, now).with(collection.fairnessField, ["$in": spellings.bson])
                found = try identifiers(ofKey, in: collection, skip: counts[key, default: 0], limit: count)
            }
            candidates += found.map { ClaimCandidate(isPush: collection.name == PushCollection.name, id: $0) }
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

    /// The keys with due items, each once, the longest waiting first: all of them, or as many as there is room for items in the
    /// claim.
    private func keys(
        _ claim: Claim, without tried: Set<ClaimCandidate>, _ now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [DueKey] {
        let topics = try dueKeys(in: .messages, claim.urgency, now, unreadable) { FairnessKey.topic(try $0.value("_id")) }
        let named =
            try pushKeysByTime(claim, without: tried, now, unreadable)
            ?? dueKeys(in: .pushes, claim.urgency, now, unreadable) { FairnessKey.named(try $0.value("_id")) }
        return DueKey.merged((topics + named).sorted { $0.due < $1.due })
    }

    /// Skips from one key to the next in an index. The cost depends on the number of keys with outstanding items, due or not.
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
            return DueKey(
                key: try fairnessKey(fields), spellings: [try fields.value("_id")], due: try fields.value("due"))
        }
    }

    /// The number of due pushes that are read before the keys are searched one by one.
    private static let firstSearch = 1_000

    /// Reads the due pushes in the order of time. This is faster if there are many keys without due pushes, such as
    /// one for each phone.
    ///
    /// - Returns: `nil` if it has not found enough keys, and there are more due pushes.
    private func pushKeysByTime(
        _ claim: Claim, without tried: Set<ClaimCandidate>, _ now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [DueKey]? {
        let collection = OutboxCollection.pushes
        let documents = try find(
            collection.due(claim.urgency, now), in: collection.name,
            options: [
                "sort": ["relay.next_attempt": 1], "limit": .int64(Int64(Self.firstSearch)),
                // The index contains all these fields.
                "projection": ["_id": 1, collection.fairnessField: 1, "relay.next_attempt": 1],
            ])
        let due: [DueKey?] = try unreadable.pushes.readable(of: documents) { document in
            let fields = try BSONFields(document)
            let id: ObjectID = try fields.value("_id")
            let name: String = try fields.value(collection.fairnessField)
            let time: UnixMilliseconds = try fields.fields("relay").value("next_attempt")
            guard !tried.contains(ClaimCandidate(isPush: true, id: id)) else { return nil }
            return DueKey(key: .named(name), spellings: [name], due: time, identifiers: [id])
        }
        let keys = DueKey.merged(due.compactMap(\.self).filter { claim.room(for: $0.key) > 0 })
        return documents.count < Self.firstSearch || keys.count >= claim.limit ? keys : nil
    }

    /// The identifiers of possible items, the longest due first.
    private func identifiers(
        _ filter: BSONDocument, in collection: OutboxCollection, skip: Int, limit: Int
    ) throws -> [ObjectID] {
        let found = try find(
            filter.with("_id", ["$type": "objectId"]).with("relay.revision", ["$type": "number"]), in: collection.name,
            options: Self.byDueTime(skip: skip, limit: limit))
        return try found.map { try BSONFields($0).value("_id") }
    }

    /// The options of a search for identifiers, the push or message that is due first in front.
    private static func byDueTime(skip: Int, limit: Int) -> BSONDocument {
        [
            "sort": ["relay.next_attempt": 1], "skip": .int64(Int64(skip)), "limit": .int64(Int64(limit)),
            "projection": ["_id": 1, "relay.revision": 1],
        ]
    }
}
