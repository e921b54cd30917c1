import FCM
import JSON
import Schemas
import Storage
import StoredResources

/// The log of all broadcasts: each change is one transaction with its entry for the audit log.
struct BroadcastLog: Sendable {
    let store: Storage
    /// The default language.
    let language: String
    let payloadLimit: PayloadLimit
    /// Called after each change, before its author gets the answer.
    let changed: @Sendable (_ version: Revision) -> Void

    /// The maximum number of broadcasts that have not expired: phones read all of them at once.
    static let maxCurrent = 200

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
            try transaction.insert(StoredBroadcast(broadcast, idempotencyKey: command.idempotencyKey), into: BroadcastStore.all)
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
            broadcast in
            guard broadcast.withdrawn == nil else {
                throw CommandFailure(.conflict, "broadcast \(broadcast.id) was withdrawn", field: "id")
            }
            let edited = broadcast.edited(command.draft, language: language, now: now)
            try checkSize(edited)
            return edited
        }
    }

    func withdraw(_ command: WithdrawBroadcast, by author: AuditAuthor) async throws -> RevisedBroadcast {
        let now = UnixMilliseconds.now
        return try await change(
            command.id, unchangedSince: command.unchangedSince, WithdrawBroadcast.name, by: author, now: now
        ) { broadcast in
            guard broadcast.withdrawn == nil else { return broadcast }
            guard broadcast.expires > now else {
                throw CommandFailure(.conflict, "broadcast \(broadcast.id) has expired", field: "id")
            }
            var withdrawn = broadcast
            withdrawn.withdrawn = now
            withdrawn.changed = now
            withdrawn.version += 1
            return withdrawn
        }
    }

    /// Makes a change of one broadcast. A change that leaves it as it is is none.
    private func change(
        _ id: Int64, unchangedSince known: Int64?, _ action: String, by author: AuditAuthor, now: UnixMilliseconds,
        _ body: @escaping @Sendable (Broadcast) throws -> Broadcast
    ) async throws -> RevisedBroadcast {
        let (reply, isNew) = try await store.transaction { [self] transaction -> (RevisedBroadcast, Bool) in
            let former = try find(id, in: transaction)
            let new = try body(former)
            guard new != former else { return (RevisedBroadcast(former, data: try transaction.broadcastsVersion()), false) }
            if let known, known != former.version {
                throw CommandFailure(.conflict, "broadcast \(id) has version \(former.version) now, not \(known)")
            }
            let version = try transaction.countBroadcastChange()
            try transaction.update(id, in: BroadcastStore.all) { stored in
                stored.replace(by: new)
                // Phones that may have it learn of the change at once.
                let isOnPhones = former.pushed != nil || former.starts <= now
                if isOnPhones { stored.nextPush = now } else if new.withdrawn != nil { stored.nextPush = nil }
            }
            try record(action, former, new, by: author, in: transaction)
            return (RevisedBroadcast(new, data: version), true)
        }
        if isNew { changed(reply.data) }
        return reply
    }

    /// The stored broadcast of a repeated command.
    private func known(_ command: AddBroadcast, of sender: String, in transaction: Transaction) throws -> Broadcast? {
        var found: Broadcast?
        if let key = command.idempotencyKey {
            let query = Query<StoredBroadcast>(
                where: BroadcastStore.sender == sender, BroadcastStore.idempotencyKey == key)
            found = try transaction.page(of: BroadcastStore.all, query, after: nil, limit: 1).documents.first?.document.broadcast
        }
        let field = found == nil ? "id" : "idempotency_key"
        if found == nil, let id = command.draft.id {
            found = try transaction.get(id, from: BroadcastStore.all)?.document.broadcast
        }
        guard let found else { return nil }
        // After an edit it is not known any more what the command said.
        let isSame =
            found.sender == sender
            && (found.version > 1
                || found.isResult(of: command.draft, language: found.language))
        guard isSame, field == "idempotency_key" || found.version == 1 else {
            throw CommandFailure(
                .conflict, field == "id" ? "there is another broadcast \(found.id)" : "the key belongs to another broadcast",
                field: field)
        }
        return found
    }

    private func nextID(in transaction: Transaction) throws -> Int64 {
        let last = try transaction.page(of: BroadcastStore.all, Query(order: .descending()), after: nil, limit: 1).documents.first
        guard let last else { return 1 }
        guard last.document.id < BroadcastDraft.maxID else {
            throw CommandFailure(.conflict, "there is a broadcast with the highest id; choose one", field: "id")
        }
        return last.document.id + 1
    }

    private func requireRoom(in transaction: Transaction, now: UnixMilliseconds) throws {
        let query = Query<StoredBroadcast>(where: BroadcastStore.expires > now, order: .ascending(BroadcastStore.expires))
        let current = try transaction.page(of: BroadcastStore.all, query, after: nil, limit: Self.maxCurrent).documents
        guard current.count(where: { $0.document.broadcast.withdrawn == nil }) == Self.maxCurrent else { return }
        throw CommandFailure(
            .conflict, "\(Self.maxCurrent) broadcasts have not expired, and no more are possible; withdraw one", field: "expiry")
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
        _ action: String, _ former: Broadcast?, _ broadcast: Broadcast, by author: AuditAuthor, in transaction: Transaction
    ) throws {
        func json(_ broadcast: Broadcast) throws -> JSONValue { try JSONCoder.decode(from: JSONCoder.encode(broadcast)) }
        let entry = AuditEntry(
            by: author, action: action, object: AuditObject(kind: "broadcast", id: "\(broadcast.id)"),
            before: try former.map(json), after: try json(broadcast))
        try transaction.insert(StoredAuditEntry(entry), into: BroadcastStore.audit)
    }

    // MARK: Reads

    private func find(_ id: Int64, in transaction: Transaction) throws -> Broadcast {
        guard let stored = try transaction.get(id, from: BroadcastStore.all) else {
            throw CommandFailure(.notFound, "no broadcast \(id)")
        }
        return stored.document.broadcast
    }

    func broadcast(_ id: Int64) async throws -> Broadcast {
        try await store.snapshot { try find(id, in: $0) }
    }

    func page(_ command: ListBroadcasts) async throws -> ListBroadcasts.Reply {
        let page = try await store.page(
            of: BroadcastStore.all, Query(order: .descending()), after: try Cursor(after: command.after), limit: command.limit)
        let now = UnixMilliseconds.now
        let broadcasts = page.documents.map(\.document.broadcast).filter { broadcast in
            command.state.map { broadcast.state(at: now) == $0 } ?? true
        }
        return ListBroadcasts.Reply(broadcasts: broadcasts, next: page.next?.description)
    }

    func current() async throws -> ReadCurrentBroadcasts.Reply {
        let query = Query<StoredBroadcast>(where: BroadcastStore.expires > .now, order: .ascending(BroadcastStore.expires))
        return try await store.snapshot { transaction in
            var (broadcasts, withdrawn): ([PhoneBroadcast], [WithdrawnBroadcast]) = ([], [])
            var cursor: Cursor?
            repeat {
                let page = try transaction.page(of: BroadcastStore.all, query, after: cursor, limit: Self.maxCurrent)
                for broadcast in page.documents.map(\.document.broadcast) {
                    if broadcast.withdrawn == nil {
                        broadcasts.append(PhoneBroadcast(broadcast))
                    } else {
                        withdrawn.append(WithdrawnBroadcast(broadcast))
                    }
                }
                cursor = page.next
            } while cursor != nil
            return ReadCurrentBroadcasts.Reply(
                version: try transaction.broadcastsVersion(), broadcasts: broadcasts.sorted { $0.id < $1.id },
                withdrawn: withdrawn)
        }
    }
}

extension Broadcast {
    /// Whether a draft, sent when this was created, makes this broadcast.
    fileprivate func isResult(of draft: BroadcastDraft, language: String) -> Bool {
        var new = Broadcast(draft, id: id, language: language, sender: sender, now: created)
        (new.withdrawn, new.pushed) = (withdrawn, pushed)
        return new == self
    }
}
