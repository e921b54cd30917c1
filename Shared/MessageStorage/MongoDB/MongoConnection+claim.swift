import MongoDatabase
import Schemas
import UnreadableDocuments

/// Claims of due items. A claim takes several steps. If the database fails after some of them, the claim returns the items that
/// it has leased.
extension MongoConnection {
    /// Leases due items, and returns them with the lease.
    func claim(
        _ claim: Claim, lease: Lease, now: UnixMilliseconds, unreadable: UnreadableItems
    ) throws -> [OutboxItem] {
        var (claim, claimed): (Claim, [OutboxItem]) = (claim, [])
        while claim.limit > 0 {
            let (candidates, won): ([ClaimCandidate], [OutboxItem])
            do {
                candidates = try self.candidates(for: claim, now: now, unreadable)
                won = try take(candidates, for: lease, now: now, unreadable)
            } catch {
                // The next claim reports the error.
                guard !claimed.isEmpty else { throw error }
                break
            }
            claimed += won
            // Another claimant has taken some of the candidates meanwhile, so there is room for more.
            guard won.count < candidates.count else { break }
            for item in won { claim.room[item.fairnessKey] = claim.room(for: item.fairnessKey) - 1 }
            claim.limit -= won.count
        }
        return claimed
    }

    /// The claimed items without duplicates of messages. A duplicate may be a copy of a message that FCM already has.
    ///
    /// - Throws: If the database cannot be searched for duplicates. The items' leases are released then.
    func withoutDuplicates(
        _ claimed: [OutboxItem], now: UnixMilliseconds, _ unreadable: UnreadableItems
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
            for item in claimed {
                guard let lease = item.record.lease else { continue }
                let (collection, id) = item.message.map { (OutboxCollection.messages, $0.id) } ?? (.pushes, item.push?.id)
                let leased: BSONDocument = [
                    "_id": id?.bson ?? .null, "relay.lease.owner": lease.owner.bson, "relay.lease.until": lease.until.bson,
                ]
                try? releaseLeases(leased, in: collection, now: now)
            }
            throw error
        }
    }

    /// Leases the candidates that are still due, and returns them with the lease.
    ///
    /// - Throws: If none was leased.
    private func take(
        _ candidates: [ClaimCandidate], for lease: Lease, now: UnixMilliseconds, _ unreadable: UnreadableItems
    ) throws -> [OutboxItem] {
        var taken: [ClaimCandidate: OutboxItem] = [:]
        for collection in OutboxCollection.all {
            let isPush = collection.name == PushCollection.name
            let identifiers = candidates.filter { $0.isPush == isPush }.map(\.id)
            guard !identifiers.isEmpty else { continue }
            do {
                for item in try take(identifiers, in: collection, for: lease, now: now, unreadable) {
                    if let id = item.message?.id ?? item.push?.id { taken[ClaimCandidate(isPush: isPush, id: id)] = item }
                }
            } catch {
                // The items that are leased already are returned. Otherwise they would wait until their leases end.
                guard !taken.isEmpty else { throw error }
            }
        }
        return candidates.compactMap { taken[$0] }
    }

    private func take(
        _ identifiers: [ObjectID], in collection: OutboxCollection, for lease: Lease, now: UnixMilliseconds,
        _ unreadable: UnreadableItems
    ) throws -> [OutboxItem] {
        // Distinguishes this claim from another one of the same owner in the same millisecond.
        let claim = ObjectID()
        let among: BSONValue = ["$in": identifiers.bson]
        let claimed: BSONDocument = ["_id": among, "relay.lease.claim": claim.bson]
        do {
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
            let documents = try find(claimed, in: collection.name, options: ["projection": ["words": 0]])
            // An unreadable document does not block the others while its lease lasts.
            return try unreadable.of(collection).readable(of: documents, as: collection.item)
        } catch {
            // Some may be leased. If they cannot be released either, the leases end by themselves.
            try? releaseLeases(claimed, in: collection, now: now)
            throw error
        }
    }
}

/// A document that may be claimed.
struct ClaimCandidate: Hashable {
    let isPush: Bool
    let id: ObjectID
}

/// The error of a document that has the same key as another one.
private struct Duplicate: Error, CustomStringConvertible {
    let description: String

    init(of original: Message) {
        description = "document \(original.id) has its msi_key \(original.msiKey) as well; remove one of the two"
    }
}
