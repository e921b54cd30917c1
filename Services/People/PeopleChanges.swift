import Bus
import Schemas
import Store
import Base

/// Makes all changes of accounts and rights, and announces those that change credentials or end tokens of devices.
struct PeopleChanges: Sendable {
    let store: Storage
    let event: RepeatedEvent<PeopleChanged>
    let deviceEvent: RepeatedEvent<DevicesChanged>
    /// The OpenID Connect provider that is set up; `nil` if there is none.
    let issuer: String?
    let now: @Sendable () -> UnixMilliseconds

    /// Makes a change in one transaction.
    ///
    /// - Parameters:
    ///   - context: Of the command that asks for it.
    ///   - body: A pure function of the stored documents: it may run more than once.
    func make<Value: Sendable>(
        by context: CommandContext, _ body: @escaping @Sendable (inout PeopleChange) throws -> Value
    ) async throws -> Value {
        try await make(by: context.author, body)
    }

    /// Makes a change in one transaction.
    ///
    /// - Parameters:
    ///   - author: For the audit log.
    ///   - body: A pure function of the stored documents: it may run more than once.
    func make<Value: Sendable>(
        by author: AuditAuthor, _ body: @escaping @Sendable (inout PeopleChange) throws -> Value
    ) async throws -> Value {
        let (value, credentials, devices) = try await store.transaction { [issuer, now] transaction in
            var change = PeopleChange(transaction, issuer: issuer, now: now())
            let value = try body(&change)
            try transaction.appendAudit(change.entries(by: author))
            return (value, try change.finish(), try change.finishDevices())
        }
        if let credentials { event.announce(credentials) }
        if let devices { deviceEvent.announce(devices) }
        return value
    }
}

extension PeopleChange {
    /// Stores which credentials have changed.
    ///
    /// - Returns: The changes; `nil` if no credential has changed.
    fileprivate func finish() throws -> PeopleChanged? {
        guard !credentials.isEmpty else { return nil }
        let changes = PeopleChanged(credentials, after: try transaction.peopleSequence())
        let first = changes.after + 1
        let last = changes.sequence
        // First, so that of two simultaneous changes one waits here, or is repeated.
        if first == 1 {
            try transaction.insert(ChangeCounter(id: ChangeCounter.id, sequence: last), into: PeopleStore.counter)
        } else {
            try transaction.update(ChangeCounter.id, in: PeopleStore.counter) { $0.sequence = last }
        }
        for (sequence, change) in zip(first...last, credentials) {
            try transaction.insert(ChangeDocument(sequence: sequence, change: change, now: now), into: PeopleStore.changes)
        }
        return changes
    }

    /// Stores which tokens of devices have ended.
    ///
    /// - Returns: What gateways must learn of; `nil` for nothing.
    fileprivate func finishDevices() throws -> DevicesChanged? {
        guard !ended.isEmpty || hasNewTokenKeys else { return nil }
        return try transaction.end(ended, at: now)
    }

    /// The number of changes after this one, in its transaction.
    var sequence: Int64 {
        get throws { try transaction.peopleSequence() + Int64(credentials.count) }
    }
}

extension Transaction {
    /// The number of changes so far.
    func peopleSequence() throws -> Int64 {
        try get(ChangeCounter.id, from: PeopleStore.counter)?.sequence ?? 0
    }
}

extension ReadPeopleChanges {
    func answer(from transaction: Transaction) throws -> PeopleChanged {
        try transaction.changes(after: after, upTo: transaction.peopleSequence())
    }
}

extension PeopleChanged {
    /// The latest ``maxRepeated`` changes, for the event that is published periodically.
    static func latest(in transaction: Transaction) throws -> PeopleChanged {
        let sequence = try transaction.peopleSequence()
        return try transaction.changes(after: max(0, sequence - maxRepeated), upTo: sequence)
    }
}

extension Transaction {
    fileprivate func changes(after: Int64, upTo sequence: Int64) throws -> PeopleChanged {
        let missing = sequence - after
        if missing == 0 { return PeopleChanged(after: after) }
        guard (1...Int64(PeopleChanged.maxChanges)).contains(missing) else {
            return PeopleChanged(allUpTo: sequence, after: after)
        }
        let query = Query(where: PeopleStore.changeSequence > after, order: .ascending(PeopleStore.changeSequence))
        let changes = try page(of: PeopleStore.changes, query, limit: PeopleChanged.maxChanges).documents
        // Old changes are removed.
        guard changes.count == missing else { return PeopleChanged(allUpTo: sequence, after: after) }
        return PeopleChanged(changes.map(\.document.change), after: after)
    }
}

/// A change that holders of copies of credentials must learn of.
struct ChangeDocument: StoredDocument, Hashable {
    /// How long it is kept. A gateway that was away for longer forgets all of its copies.
    static let keptFor = Milliseconds.seconds(24 * 3_600)

    let id: ObjectID
    /// Its number, from 1 and without gaps.
    let sequence: Int64
    let change: CredentialChange
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case sequence, change, expires
    }

    init(sequence: Int64, change: CredentialChange, now: UnixMilliseconds) {
        id = ObjectID()
        self.sequence = sequence
        self.change = change
        expires = now + Self.keptFor
    }
}

/// The number of the changes. Each change increments it, so that no two transactions change accounts at the same time, on both
/// databases.
struct ChangeCounter: StoredDocument, Hashable {
    static let id = "people"

    let id: String
    var sequence: Int64

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case sequence
    }
}
