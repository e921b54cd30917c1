import Bus
import Schemas
import Store

/// Makes all changes of messages, statuses, pictures and reports, and announces them.
struct MessagingChanges: Sendable {
    let store: Storage
    let events: MessagingEvents
    /// The present limits.
    let rules: @Sendable () -> MessagingRules
    let now: @Sendable () -> UnixMilliseconds
    /// Called after each commit with what it was. It must return quickly.
    let committed: @Sendable (Outcome) -> Void

    /// What a commit leaves to do.
    struct Outcome: Sendable {
        let hasRemoved: Bool
        let hasPushes: Bool
    }

    /// Two requests may both store the first documents of the same persons. After the first failure the change finds them.
    private static let maxAttempts = 4

    /// Makes a change in one transaction.
    ///
    /// - Parameters:
    ///   - context: Of the command that asks for it.
    ///   - body: A pure function of the stored documents: it may run more than once.
    func make<Value: Sendable>(
        by context: CommandContext, _ body: @escaping @Sendable (inout MessagingChange) throws -> Value
    ) async throws -> Value {
        try await make(by: context.author, body)
    }

    /// Makes a change in one transaction.
    ///
    /// - Parameters:
    ///   - author: For the audit log.
    ///   - body: A pure function of the stored documents: it may run more than once.
    func make<Value: Sendable>(
        by author: AuditAuthor, _ body: @escaping @Sendable (inout MessagingChange) throws -> Value
    ) async throws -> Value {
        for _ in 1..<Self.maxAttempts {
            do {
                return try await makeOnce(by: author, body)
            } catch let failure as CommandFailure where failure.isDuplicate {
                // Another request has stored the same document in the same moment. This time the change finds it.
            }
        }
        return try await makeOnce(by: author, body)
    }

    private func makeOnce<Value: Sendable>(
        by author: AuditAuthor, _ body: @escaping @Sendable (inout MessagingChange) throws -> Value
    ) async throws -> Value {
        let (value, made) = try await store.transaction { [rules, now] transaction -> (Value, Made) in
            var change = MessagingChange(transaction, rules: rules(), now: now())
            let value = try body(&change)
            let entries = change.records.map { record in
                AuditEntry(
                    at: change.now, by: author, action: record.action, object: record.object, before: record.before,
                    after: record.after)
            }
            if !entries.isEmpty { try transaction.record(entries) }
            return (
                value,
                Made(news: change.news, outcome: Outcome(hasRemoved: change.hasRemoved, hasPushes: change.hasPushes))
            )
        }
        events.announce(made.news)
        committed(made.outcome)
        return value
    }

    /// What others learn of a change once it is committed.
    private struct Made: Sendable {
        let news: [MessagingNews]
        let outcome: Outcome
    }
}

extension CommandFailure {
    /// The fields of the unique indexes, as the store names them: of a person or a conversation, a message, a view of a status,
    /// the picture of a profile, a part of a picture, a report, and of what a request has made.
    private static let uniqueFields: Set<String> = [
        "_id", "conversation, number", "status", "status, viewer", "profile", "files_id, n", "reporter, message", "request",
    ]

    /// Whether a document cannot be stored because there is one with the same values in a unique index.
    fileprivate var isDuplicate: Bool { status == .conflict && field.map(Self.uniqueFields.contains) ?? false }
}
