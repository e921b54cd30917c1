import Schemas
import Storage
import StoredResources

/// The store of the broadcasts.
enum BroadcastStore {
    static let expires = Field("expires", \StoredBroadcast.expires)
    static let nextPush = Field("next_push", \StoredBroadcast.nextPush)
    static let sender = Field("sender", \StoredBroadcast.sender)
    static let idempotencyKey = Field("idempotency_key", \StoredBroadcast.idempotencyKey)

    /// A withdrawal must not fail because the disk is full.
    static let all = Collection<StoredBroadcast>(
        "broadcast", indexes: [.on(expires), .on(nextPush), .unique(sender, idempotencyKey)], reserve: .changes)
    static let counter = Collection<ChangeCount>("broadcast_changes", reserve: .everything)
    static let audit = StoredAuditEntry.collection("broadcast_audit")

    static let declaration = StoreDeclaration("broadcast", all, counter, audit)
}

/// A broadcast as it is stored.
struct StoredBroadcast: StoredDocument, Hashable {
    let id: Int64
    var broadcast: Broadcast
    /// The broadcast's own, for the index.
    var expires: UnixMilliseconds
    /// When the outbox is to get the next push of it: its beginning, a repetition, or its withdrawal; `nil` for no further one.
    var nextPush: UnixMilliseconds?
    let sender: String
    let idempotencyKey: String?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case broadcast, expires, sender
        case nextPush = "next_push"
        case idempotencyKey = "idempotency_key"
    }

    init(_ broadcast: Broadcast, idempotencyKey: String?) {
        id = broadcast.id
        self.broadcast = broadcast
        expires = broadcast.expires
        nextPush = broadcast.starts
        sender = broadcast.sender
        self.idempotencyKey = idempotencyKey
    }

    /// Takes over another version. Phones get it when it begins.
    mutating func replace(by version: Broadcast) {
        broadcast = version
        expires = version.expires
        nextPush = version.starts
    }
}

/// How often any broadcast was changed. Each change adds one, so that two simultaneous changes are made one after another, and the
/// gateway knows which copy is the latest.
struct ChangeCount: StoredDocument, Hashable {
    static let id = "changes"

    let id: String
    var count: Revision

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case count
    }
}

extension Transaction {
    /// The version of all broadcasts: the number of changes so far.
    func broadcastsVersion() throws -> Revision {
        try get(ChangeCount.id, from: BroadcastStore.counter)?.document.count ?? .none
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
