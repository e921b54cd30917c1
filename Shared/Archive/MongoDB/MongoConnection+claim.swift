import Store
import Schemas

/// Claims of due items. A claim takes several steps. If the database fails after some of them, the claim returns the items that
/// it has leased, and the error.
extension MongoConnection {
    /// Leases due items.
    ///
    /// - Throws: If the database failed before an item was leased.
    func claim(
        _ claim: Claim, lease: Lease, now: UnixMilliseconds, unreadable: UnreadableItems
    ) throws -> LeasedItems {
        var (claim, leased, tried) = (claim, LeasedItems(), Set<ClaimCandidate>())
        while claim.limit > 0, leased.failure == nil {
            do {
                let candidates = try self.candidates(for: claim, without: tried, now: now, unreadable)
                let won = take(candidates, of: claim.queue, for: lease, now: now, unreadable)
                leased.items += won.items
                leased.failure = won.failure
                // Otherwise there is room for more: another claimant has taken some of the candidates, or they are
                // unreadable.
                guard won.items.count < candidates.count else { break }
                tried.formUnion(candidates)
                if won.failure == nil {
                    try reportUncountable(Set(candidates).subtracting(won.items.map(ClaimCandidate.init)), unreadable)
                }
                for item in won.items { claim.room[item.fairnessKey] = claim.room(for: item.fairnessKey) - 1 }
                claim.limit -= won.items.count
            } catch {
                leased.failure = error
            }
        }
        if let failure = leased.failure, leased.items.isEmpty { throw failure }
        return leased
    }

    /// The claimed items without duplicates of messages. A duplicate may be a copy of a message that FCM already has.
    ///
    /// - Parameters:
    ///   - queue: That of the claim.
    ///   - lease: The items' lease.
    /// - Throws: If the database cannot be searched for duplicates. The items' leases are released then.
    func withoutDuplicates(
        _ claimed: [OutboxItem], of queue: OutboxQueue = .fcm, lease: Lease, now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [OutboxItem] {
        do {
            let originals = try claimed.map { item in
                try item.message.flatMap { try message(["msi_key": $0.msiKey.bson])?.message }
            }
            return try unreadable.messages.readable(
                of: Array(zip(claimed, originals)), named: { $0.0.message?.id.description ?? "" }
            ) { item, original in
                if let original, original.id != item.message?.id { throw Duplicate(of: original) }
                return item
            }
        } catch {
            // If they cannot be released, the outbox does it after the error.
            try? release(claimed, of: queue, lease: lease, now: now)
            throw error
        }
    }

    private func release(_ claimed: [OutboxItem], of queue: OutboxQueue, lease: Lease, now: UnixMilliseconds) throws {
        for collection in OutboxCollection.of(queue) {
            let identifiers = collection.isPush ? claimed.compactMap(\.push?.id) : claimed.compactMap(\.message?.id)
            guard !identifiers.isEmpty else { continue }
            let leased: BSONDocument = [
                "_id": ["$in": identifiers.bson], "relay.lease.owner": lease.owner.bson, "relay.lease.until": lease.until.bson,
            ]
            try releaseLeases(leased, in: collection, now: now)
        }
    }

    /// Leases the candidates that are still due. Ends with the first failure.
    private func take(
        _ candidates: [ClaimCandidate], of queue: OutboxQueue, for lease: Lease, now: UnixMilliseconds,
        _ unreadable: UnreadableItems
    ) -> LeasedItems {
        var taken: [ClaimCandidate: OutboxItem] = [:]
        var failure: (any Error)?
        for collection in OutboxCollection.of(queue) where failure == nil {
            let identifiers = candidates.filter { $0.isPush == collection.isPush }.map(\.id)
            guard !identifiers.isEmpty else { continue }
            let leased = take(identifiers, in: collection, for: lease, now: now, unreadable)
            for item in leased.items { taken[ClaimCandidate(item)] = item }
            failure = leased.failure
        }
        return LeasedItems(items: candidates.compactMap { taken[$0] }, failure: failure)
    }

    private func take(
        _ identifiers: [ObjectID], in collection: OutboxCollection, for lease: Lease, now: UnixMilliseconds,
        _ unreadable: UnreadableItems
    ) -> LeasedItems {
        // Distinguishes this claim from another one of the same owner in the same millisecond.
        let claim = ObjectID()
        func leased(_ identifiers: ArraySlice<ObjectID>) -> BSONDocument {
            ["_id": ["$in": Array(identifiers).bson], "relay.lease.claim": claim.bson]
        }
        var items: [OutboxItem] = []
        var unread = identifiers[...]
        do {
            _ = try update(
                [
                    "_id": ["$in": identifiers.bson], collection.dueField: OutboxCollection.dueTime(now),
                    // Its other queue may have leased it.
                    "$nor": OutboxCollection.leased(now),
                    // Another value cannot be increased, and the server would end the whole update.
                    "relay.revision": ["$type": "number"],
                ],
                [
                    "$set": [
                        "relay.lease": .document(lease.document.with("claim", claim.bson)),
                        collection.dueField: lease.until.bson,
                    ],
                    "$inc": ["relay.revision": .int64(1)],
                ],
                in: collection.name, all: true)
            while !unread.isEmpty {
                let documents = try find(
                    leased(unread.prefix(Self.batch)), in: collection.name,
                    options: ["projection": MessageCollection.withoutWords])
                // An unreadable document does not block the others while its lease lasts.
                items += try unreadable.of(collection).readable(of: documents, as: collection.item)
                unread = unread.dropFirst(Self.batch)
            }
            return LeasedItems(items: items)
        } catch {
            // Some of the others may be leased. If they cannot be released now, the outbox does it after the error.
            try? releaseLeases(leased(unread), in: collection, now: now)
            return LeasedItems(items: items, failure: error)
        }
    }
}

/// What a claim, or a step of it, has leased.
struct LeasedItems: Sendable {
    var items: [OutboxItem] = []
    /// Why it has not leased more; `nil` if the database did not fail.
    var failure: (any Error)?
}

/// A document that may be claimed.
struct ClaimCandidate: Hashable {
    let isPush: Bool
    let id: ObjectID
}

extension ClaimCandidate {
    fileprivate init(_ item: OutboxItem) {
        switch item {
        case .message(let message): self.init(isPush: false, id: message.id)
        case .push(let push): self.init(isPush: true, id: push.id)
        }
    }
}

/// The error of a document that has the same key as another one.
private struct Duplicate: Error, CustomStringConvertible {
    let description: String

    init(of original: Message) {
        description = "document \(original.id) has its msi_key \(original.msiKey) as well; remove one of the two"
    }
}
