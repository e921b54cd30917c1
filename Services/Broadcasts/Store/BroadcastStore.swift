import Schemas
import Store

/// The store of the broadcasts.
enum BroadcastStore {
    static let expires = Field("expires", \StoredBroadcast.expires)
    static let until = Field("until", \StoredBroadcast.until)
    static let nextPush = Field("next_push", \StoredBroadcast.nextPush)
    static let sender = Field("sender", \StoredBroadcast.sender)
    static let idempotencyKey = Field("idempotency_key", \StoredBroadcast.idempotencyKey)

    /// Changes may use the disk's reserve: a withdrawal must not fail because the disk is full.
    static let all = Collection<StoredBroadcast>(
        "broadcast", indexes: [.on(expires), .on(until), .on(nextPush), .unique(sender, idempotencyKey)], reserve: .changes)
    static let counter = Collection<ChangeCount>(BroadcastNumbers.counter, reserve: .everything)

    static let declaration = StoreDeclaration("broadcast", all, counter, audited: true)
}

/// The number of changes to all broadcasts. Each change increments it in its transaction. That serialises simultaneous changes, and
/// tells the gateway which copy is the latest.
struct ChangeCount: StoredDocument, Hashable {
    static let id = BroadcastNumbers.counterID

    let id: String
    var count: Revision
    /// The least id that the service may give. `msi restore` sets it (``BroadcastNumbers``), since phones know ids that were given after the
    /// backup. Absent before.
    var nextID: Int64?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case count
        case nextID = "next_id"
    }
}

extension Transaction {
    /// The version of all broadcasts: the number of changes so far.
    func broadcastsVersion() throws -> Revision {
        try get(ChangeCount.id, from: BroadcastStore.counter)?.document.count ?? .none
    }

    /// The broadcasts of which a version has not expired yet, by their ids.
    func lastingBroadcasts(at now: UnixMilliseconds) throws -> [StoredBroadcast] {
        var found: [Int64: StoredBroadcast] = [:]
        // `until` is stored only if it is later.
        for field in [BroadcastStore.expires, BroadcastStore.until] {
            let query = Query<StoredBroadcast>(where: field > now, order: .ascending(field))
            var cursor: Cursor?
            repeat {
                let page = try page(of: BroadcastStore.all, query, after: cursor, limit: BroadcastLog.maxCurrent)
                for stored in page.documents.map(\.document) { found[stored.id] = stored }
                cursor = page.next
            } while cursor != nil
        }
        return found.values.sorted { $0.id < $1.id }
    }

    /// Counts a change. It comes first in its transaction, so that of two simultaneous changes one waits here, or is repeated.
    func countBroadcastChange() throws -> Revision {
        guard try get(ChangeCount.id, from: BroadcastStore.counter) != nil else {
            try insert(ChangeCount(id: ChangeCount.id, count: 1), into: BroadcastStore.counter)
            return 1
        }
        return try update(ChangeCount.id, in: BroadcastStore.counter) { $0.count = $0.count.next }.document.count
    }
}
