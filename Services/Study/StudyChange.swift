import Base
import Schemas
import Store

/// A change of classes, sessions or posts, inside its transaction.
///
/// It collects what open apps, devices and the audit log are to learn of it. ``StudyChanges`` stores that in the same
/// transaction, and announces it after the commit.
struct StudyChange {
    let transaction: Transaction
    let now: UnixMilliseconds
    let rules: StudyRules
    private(set) var events: [StudyEvent] = []
    /// The same, to find one among the thousands of a class that is closed.
    private var knownEvents: Set<StudyEvent> = []
    private(set) var records: [Record] = []
    /// The sessions that are not as they were, by their classes.
    private(set) var sessions: [ObjectID: Set<ObjectID>] = [:]
    /// The sessions that have ended, for the metrics.
    private(set) var ends: [SessionEnd] = []

    /// What changed, for the audit log: roles and moderation. It has no text of a post, no key's code, no join and no position.
    struct Record: Hashable, Sendable {
        /// Such as `class_member.update`.
        let action: String
        let object: AuditObject
        /// `nil` for something new.
        let before: JSONValue?
        /// `nil` for something removed.
        let after: JSONValue?
    }

    init(_ transaction: Transaction, rules: StudyRules, now: UnixMilliseconds) {
        self.transaction = transaction
        self.rules = rules
        self.now = now
    }

    /// Something that open apps show has changed. One event of a kind is enough for a change.
    mutating func changed(_ event: StudyEvent) {
        if knownEvents.insert(event).inserted { events.append(event) }
    }

    /// A session is not as it was, or is new. ``ClassSessions`` reads it again.
    mutating func changedSession(_ id: ObjectID, of classID: ObjectID) { sessions[classID, default: []].insert(id) }

    /// A session has ended.
    mutating func count(_ end: SessionEnd) { ends.append(end) }

    /// Adds a record for the audit log.
    mutating func record(_ action: String, _ object: AuditObject, before: JSONValue? = nil, after: JSONValue? = nil) {
        records.append(Record(action: action, object: object, before: before, after: after))
    }
}

extension AuditObject {
    static func studyClass(_ id: ObjectID) -> AuditObject { AuditObject(kind: "class", id: "\(id)") }
    static func classKey(_ id: ObjectID) -> AuditObject { AuditObject(kind: "class_key", id: "\(id)") }
    static func classMember(_ account: AccountName, in id: ObjectID) -> AuditObject {
        AuditObject(kind: "class_member", id: "\(id)-\(account)")
    }
    static func studySession(_ id: ObjectID) -> AuditObject { AuditObject(kind: "study_session", id: "\(id)") }
    static func studyPost(_ id: ObjectID) -> AuditObject { AuditObject(kind: "study_post", id: "\(id)") }
}
