import FoundationEssentials
import JSON
package import Schemas
package import Storage

/// A resource whose changes the audit log records. Each change stores an entry in the same transaction, and the service forwards it
/// by `AuditForwarder`.
package protocol AuditedResource: StoredResource {
    /// The entries that the audit log has not acknowledged, in the store of the documents:
    /// ``StoredAuditEntry/collection(_:)``.
    static var pendingAudit: Collection<StoredAuditEntry> { get }
}

/// An entry that the audit log has not acknowledged.
package struct StoredAuditEntry: StoredDocument, Hashable {
    package let id: ObjectID
    /// The JSON of the ``AuditEntry``. Another program may have damaged it.
    let entry: String
    /// `true` if the audit log refuses it.
    var refused: Bool?

    package enum CodingKeys: String, CodingKey {
        case id = "_id"
        case entry, refused
    }

    package init(_ entry: AuditEntry) throws {
        id = entry.id
        self.entry = String(decoding: try JSONCoder.encode(entry), as: UTF8.self)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(ObjectID.self, forKey: .id)
        // A damaged document must be found as well: the audit log gets a substitute for it.
        entry = (try? container.decode(String.self, forKey: .entry)) ?? ""
        refused = try container.decodeIfPresent(Bool.self, forKey: .refused)
    }

    static let isRefused = Field("refused", \StoredAuditEntry.refused)

    package static func collection(_ name: String) -> Collection<StoredAuditEntry> {
        // A deletion must not fail because its entry has no room.
        Collection(name, indexes: [.on(isRefused)], reserve: .everything)
    }
}
