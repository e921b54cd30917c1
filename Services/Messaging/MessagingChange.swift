import Base
import Schemas
import Store

/// A change of messages, statuses, pictures or reports, inside its transaction.
///
/// It collects what open apps and the audit log are to learn of it. ``MessagingChanges`` stores that in the same transaction, and
/// announces it after the commit.
struct MessagingChange {
    let transaction: Transaction
    let now: UnixMilliseconds
    let rules: MessagingRules
    private(set) var news: [MessagingNews] = []
    private(set) var records: [Record] = []
    /// Whether something was removed of which the files must not have a trace.
    private(set) var hasRemoved = false
    /// Whether pushes were queued: they go at once.
    private(set) var hasPushes = false

    /// What a super user has done, for the audit log. It has no text of a message.
    struct Record: Hashable, Sendable {
        /// Such as `message_report.close`.
        let action: String
        let object: AuditObject
        let before: JSONValue?
        let after: JSONValue?
    }

    init(_ transaction: Transaction, rules: MessagingRules, now: UnixMilliseconds) {
        self.transaction = transaction
        self.rules = rules
        self.now = now
    }

    /// Something is new for a person. One event about a message is enough for a change.
    mutating func tell(_ account: AccountName, about message: ObjectID) {
        let item = MessagingNews(account: account, message: message)
        if !news.contains(item) { news.append(item) }
    }

    /// Something personal was removed.
    mutating func removed() { hasRemoved = true }

    /// A push was queued.
    mutating func queuedPush() { hasPushes = true }

    /// Adds a record for the audit log.
    mutating func record(_ action: String, _ object: AuditObject, before: JSONValue? = nil, after: JSONValue? = nil) {
        records.append(Record(action: action, object: object, before: before, after: after))
    }
}

extension AuditObject {
    static func messageReport(_ id: ObjectID) -> AuditObject { AuditObject(kind: "message_report", id: "\(id)") }
}
