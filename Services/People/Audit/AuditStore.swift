import Schemas
import Storage

extension AuditLink: StoredDocument {}

/// The collections of the audit log. Nothing in the product changes or removes an entry.
enum AuditStore {
    static let entryID = Field("entry_id", \AuditLink.entryID)
    static let at = Field("at", \AuditLink.at)
    static let actor = Field("actor", \AuditLink.actor)
    static let action = Field("action", \AuditLink.action)
    static let object = Field("object", \AuditLink.object)

    static let links = Collection<AuditLink>(
        "audit", indexes: [.unique(entryID), .on(at), .on(actor, at), .on(action, at), .on(object, at)], reserve: .everything)
    static let head = Collection<AuditHeadDocument>("audit_head", reserve: .everything)

    /// The maximum number of an entry. Only another program stores greater ones.
    static let maxNumber: Int64 = 1 << 53

    /// How far ahead of the newest entry a document of another program can be in the way of new entries. The log never gets that
    /// far by itself.
    static let maxGap: Int64 = 1 << 32
}

/// The only document of `audit_head`: the number and the hash of the newest entry. Each append changes it, so that two instances
/// cannot append the same number.
struct AuditHeadDocument: StoredDocument {
    static let id = "head"

    let id: String
    var number: Int64
    var hash: String

    init(_ head: AuditHead) {
        id = Self.id
        number = head.number
        hash = head.hash
    }

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case number, hash
    }
}
