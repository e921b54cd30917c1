import CommandBus
import Schemas
import Storage

/// Makes all changes of accounts and rights, and announces those that change credentials.
struct PeopleChanges: Sendable {
    let store: Storage
    let event: RepeatedEvent<PeopleChanged>
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
        let (value, changes) = try await store.transaction { [issuer, now] transaction in
            var change = PeopleChange(transaction, issuer: issuer, now: now())
            let value = try body(&change)
            try transaction.appendAudit(change.entries(by: author))
            return (value, try change.finish())
        }
        if let changes { event.announce(changes) }
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
