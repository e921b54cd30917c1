import FCM
import Base
import Schemas
import Store

/// The log of all broadcasts: each change is one transaction with its entry for the audit log.
struct BroadcastLog: Sendable {
    let store: Storage
    /// The default language.
    let language: String
    let payloadLimit: PayloadLimit
    /// Called after each change, before its author gets the answer.
    let changed: @Sendable (_ version: Revision) -> Void

    /// The maximum number of active and scheduled broadcasts: phones read all of them at once.
    static let maxCurrent = 200
    /// The maximum number of those that are over before their last version would expire: phones read these as well, but only by their
    /// numbers.
    static let maxOver = 1_000

    // MARK: Changes

    func add(_ command: AddBroadcast, sender: String, by author: AuditAuthor) async throws -> RevisedBroadcast {
        let now = UnixMilliseconds.now
        let (reply, isNew) = try await store.transaction { [self] transaction -> (RevisedBroadcast, Bool) in
            if let known = try known(command, of: sender, in: transaction) {
                return (RevisedBroadcast(known, data: try transaction.broadcastsVersion()), false)
            }
            try command.draft.checkForSending(language: language, now: now)
            let version = try transaction.countBroadcastChange()
            try requireRoom(in: transaction, now: now)
            let broadcast = Broadcast(
                command.draft, id: try command.draft.id ?? nextID(in: transaction), language: language, sender: sender, now: now)
            try checkSize(broadcast)
            try transaction.insert(StoredBroadcast(broadcast, by: command), into: BroadcastStore.all)
            try record(AddBroadcast.name, nil, broadcast, by: author, in: transaction)
            return (RevisedBroadcast(broadcast, data: version), true)
        }
        if isNew { changed(reply.data) }
        return reply
    }

    func update(_ command: UpdateBroadcast, by author: AuditAuthor) async throws -> RevisedBroadcast {
        let now = UnixMilliseconds.now
        try command.draft.checkForSending(language: language, now: now)
        if let id = command.draft.id, id != command.id {
            throw CommandFailure(.invalid, "id: expected \(command.id), which cannot be changed", field: "id")
        }
        return try await change(command.id, unchangedSince: command.unchangedSince, UpdateBroadcast.name, by: author, now: now) {
            stored in
            let broadcast = stored.broadcast
            guard broadcast.withdrawn == nil else {
                throw CommandFailure(.conflict, "broadcast \(broadcast.id) was withdrawn", field: "id")
            }
            guard broadcast.expires > now else { throw Self.expired(broadcast) }
            let edited = broadcast.edited(command.draft, language: language, now: now)
            try checkSize(edited)
            return edited
        }
    }

    func withdraw(_ command: WithdrawBroadcast, by author: AuditAuthor) async throws -> RevisedBroadcast {
        let now = UnixMilliseconds.now
        return try await change(
            command.id, unchangedSince: command.unchangedSince, WithdrawBroadcast.name, by: author, now: now
        ) { stored in
            let broadcast = stored.broadcast
            guard broadcast.withdrawn == nil else { return broadcast }
            // An earlier version may last longer.
            guard stored.lasts > now else { throw Self.expired(broadcast) }
            var withdrawn = broadcast
            withdrawn.withdrawn = now
            withdrawn.changed = now
            withdrawn.version += 1
            return withdrawn
        }
    }

    private static func expired(_ broadcast: Broadcast) -> CommandFailure {
        CommandFailure(.conflict, "broadcast \(broadcast.id) has expired", field: "id")
    }

    /// Changes one broadcast. A change that leaves it as it is makes no new version.
    private func change(
        _ id: Int64, unchangedSince known: Int64?, _ action: String, by author: AuditAuthor, now: UnixMilliseconds,
        _ body: @escaping @Sendable (StoredBroadcast) throws -> Broadcast
    ) async throws -> RevisedBroadcast {
        let (reply, isNew) = try await store.transaction { [self] transaction -> (RevisedBroadcast, Bool) in
            let stored = try find(id, in: transaction)
            let previous = stored.broadcast
            let new = try body(stored)
            // A repeated change equals the stored broadcast. Its author names the version before it.
            if let known, known > previous.version || known != previous.version && new != previous {
                throw CommandFailure(.conflict, "broadcast \(id) has version \(previous.version) now, not \(known)")
            }
            guard new != previous else { return (RevisedBroadcast(previous, data: try transaction.broadcastsVersion()), false) }
            let version = try transaction.countBroadcastChange()
            try transaction.update(id, in: BroadcastStore.all) { $0.replace(by: new, at: now) }
            try record(action, previous, new, by: author, in: transaction)
            return (RevisedBroadcast(new, data: version), true)
        }
        if isNew { changed(reply.data) }
        return reply
    }

    /// The stored broadcast of a repeated command.
    private func known(_ command: AddBroadcast, of sender: String, in transaction: Transaction) throws -> Broadcast? {
        var found: StoredBroadcast?
        if let key = command.idempotencyKey {
            let query = Query<StoredBroadcast>(
                where: BroadcastStore.sender == sender, BroadcastStore.idempotencyKey == key)
            found = try transaction.page(of: BroadcastStore.all, query, after: nil, limit: 1).documents.first?.document
        }
        let field = found == nil ? "id" : "idempotency_key"
        if found == nil, let id = command.draft.id {
            found = try transaction.get(id, from: BroadcastStore.all)?.document
        }
        guard let found else { return nil }
        let isSameDraft = try found.draftHash == StoredBroadcast.hash(of: command.draft)
        guard found.sender == sender, isSameDraft, field != "id" || found.broadcast.version == 1 else {
            throw CommandFailure(
                .conflict, field == "id" ? "there is another broadcast \(found.id)" : "the key belongs to another broadcast",
                field: field)
        }
        return found.broadcast
    }

    /// The id after the highest one, or the least one after a restore. If the highest possible id is taken, an id in the highest gap is used.
    private func nextID(in transaction: Transaction) throws -> Int64 {
        let least = try transaction.get(ChangeCount.id, from: BroadcastStore.counter)?.document.nextID ?? 1
        var limit = BroadcastDraft.maxID
        while limit > 0 {
            let id = try transaction.greatestID(of: BroadcastStore.all, upTo: limit) ?? 0
            if id < limit { return least > id && least <= limit ? least : id + 1 }
            limit -= 1
        }
        throw CommandFailure(.conflict, "all ids are taken", field: "id")
    }

    private func requireRoom(in transaction: Transaction, now: UnixMilliseconds) throws {
        let lasting = try transaction.lastingBroadcasts(at: now)
        let over = lasting.count { $0.isOver(at: now) }
        guard lasting.count - over < Self.maxCurrent else {
            throw CommandFailure(
                .conflict, "\(Self.maxCurrent) broadcasts have not expired, and no more are possible; withdraw one",
                field: "expiry")
        }
        guard over < Self.maxOver else {
            throw CommandFailure(
                .conflict,
                "\(Self.maxOver) broadcasts were withdrawn or shortened, and no more are possible until one of them would have expired",
                field: "expiry")
        }
    }

    /// All languages go out together.
    private func checkSize(_ broadcast: Broadcast) throws {
        let bytes = try BroadcastPushData.broadcast(PhoneBroadcast(broadcast)).bytes
        guard bytes > payloadLimit.bytes else { return }
        throw SchemaViolation(
            field: "actiondata",
            problem: "with all languages it makes an FCM message of \(bytes) bytes, \(bytes - payloadLimit.bytes) more than the "
                + "\(payloadLimit.bytes) that a message may have")
    }

    private func record(
        _ action: String, _ previous: Broadcast?, _ broadcast: Broadcast, by author: AuditAuthor, in transaction: Transaction
    ) throws {
        try transaction.record(
            AuditEntry(
                by: author, action: action, object: AuditObject(kind: "broadcast", id: "\(broadcast.id)"),
                before: try previous.map { try JSONValue(encoding: $0) }, after: try JSONValue(encoding: broadcast)))
    }

    // MARK: Reads

    private func find(_ id: Int64, in transaction: Transaction) throws -> StoredBroadcast {
        guard let stored = try transaction.get(id, from: BroadcastStore.all) else {
            throw CommandFailure(.notFound, "no broadcast \(id)")
        }
        return stored.document
    }

    func stored(_ id: Int64) async throws -> StoredBroadcast {
        try await store.snapshot { try find(id, in: $0) }
    }

    func page(_ command: ListBroadcasts) async throws -> ListBroadcasts.Reply {
        let page = try await store.page(
            of: BroadcastStore.all, Query(order: .descending()), after: try Cursor(after: command.after), limit: command.limit)
        let now = UnixMilliseconds.now
        let broadcasts = page.documents.map(\.document.broadcast).filter { broadcast in
            command.state.map { broadcast.state(at: now) == $0 } ?? true
        }
        return ListBroadcasts.Reply(
            broadcasts: broadcasts, language: language, limit: payloadLimit.bytes, next: page.next?.description)
    }

    func current() async throws -> ReadCurrentBroadcasts.Reply {
        let now = UnixMilliseconds.now
        return try await store.snapshot { transaction in
            let lasting = try transaction.lastingBroadcasts(at: now)
            return ReadCurrentBroadcasts.Reply(
                version: try transaction.broadcastsVersion(),
                broadcasts: lasting.filter { !$0.isOver(at: now) }.map { PhoneBroadcast($0.broadcast, until: $0.until) },
                withdrawn: lasting.filter { $0.isOver(at: now) }.map { WithdrawnBroadcast($0.broadcast, until: $0.until) })
        }
    }
}
