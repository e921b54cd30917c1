import Bus
import CoreMetrics
import Instruments
import Schemas
import Store

/// Makes all changes of classes, sessions and posts, and announces them.
struct StudyChanges: Sendable {
    let store: Storage
    let events: StudyEvents
    /// What this process remembers of open sessions.
    let sessions: ClassSessions
    /// The present limits.
    let rules: @Sendable () -> StudyRules
    let now: @Sendable () -> UnixMilliseconds
    /// Called after each commit, with what open apps learn of it. It must return quickly.
    let committed: @Sendable ([StudyEvent]) -> Void

    /// Makes a change in one transaction.
    ///
    /// - Parameters:
    ///   - context: Of the command that asks for it.
    ///   - body: A pure function of the stored documents: it may run more than once.
    func make<Value: Sendable>(
        by context: CommandContext, _ body: @escaping @Sendable (inout StudyChange) throws -> Value
    ) async throws -> Value {
        try await make(by: context.author, body)
    }

    /// Makes a change in one transaction.
    ///
    /// - Parameters:
    ///   - author: For the audit log.
    ///   - body: A pure function of the stored documents: it may run more than once.
    func make<Value: Sendable>(
        by author: AuditAuthor, _ body: @escaping @Sendable (inout StudyChange) throws -> Value
    ) async throws -> Value {
        do {
            return try await makeOnce(by: author, body)
        } catch let failure as CommandFailure where failure.isDuplicate {
            // Another request has stored the same document in the same moment. This time the change finds it.
            return try await makeOnce(by: author, body)
        }
    }

    private func makeOnce<Value: Sendable>(
        by author: AuditAuthor, _ body: @escaping @Sendable (inout StudyChange) throws -> Value
    ) async throws -> Value {
        let (value, news) = try await commit { [rules, now] transaction -> (Value, News) in
            var change = StudyChange(transaction, rules: rules(), now: now())
            let value = try body(&change)
            let entries = change.records.map { record in
                AuditEntry(
                    at: change.now, by: author, action: record.action, object: record.object, before: record.before,
                    after: record.after)
            }
            if !entries.isEmpty { try transaction.record(entries) }
            return (value, News(events: change.events, sessions: change.sessions, ends: change.ends))
        }
        tell(news)
        return value
    }

    private func commit<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        do {
            return try await store.transaction(body)
        } catch {
            // It may be stored, and nobody is told of which sessions.
            if !((error as? CommandFailure)?.isRefusal ?? false) { sessions.forgetAll() }
            throw error
        }
    }

    /// What others learn of a change once it is committed.
    private struct News: Sendable {
        let events: [StudyEvent]
        /// By their classes.
        let sessions: [ObjectID: Set<ObjectID>]
        let ends: [SessionEnd]
    }

    private func tell(_ news: News) {
        // First, so that who is told reads what is so now.
        for (id, changed) in news.sessions { sessions.changed(changed, of: id) }
        events.announce(news.events)
        for end in news.ends { Instrument.studySessionEnds.counter(["reason": end.rawValue]).increment() }
        committed(news.events)
    }
}

extension CommandFailure {
    /// The fields of the unique indexes, as the store names them: of a person, an attendance, an enrolment and an invitation;
    /// of what a request has made; of a class's identification key and of a key's code.
    private static let uniqueFields: Set<String> = [
        "_id", "session, account", "class, account", "session, to", "request", "folded_key", "code",
    ]

    /// Whether it is sure that nothing is stored.
    fileprivate var isRefusal: Bool { ![.unavailable, .deadlineExceeded, .internal].contains(status) }

    /// Whether a document cannot be stored because there is one with the same values in a unique index.
    fileprivate var isDuplicate: Bool { status == .conflict && field.map(Self.uniqueFields.contains) ?? false }
}

extension CommandContext {
    /// The person who makes a request.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` if the header's `actor` is missing, or no account's name.
    func requirePerson() throws(CommandFailure) -> AccountName {
        guard let name = AccountName(try requireActor()) else {
            throw CommandFailure(.unauthenticated, "the header's \"actor\" is no account's name")
        }
        return name
    }
}
