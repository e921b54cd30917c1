/// An entry of the audit log as it is stored: numbered, and chained to the entry before it.
///
/// The hash is the SHA-256 of the previous hash and the entry's text. So no entry can be changed, removed or inserted without
/// changing every later hash.
package struct AuditLink: Codable, Hashable, Sendable, Identifiable {
    /// From 1, without gaps.
    package let id: Int64
    /// The JSON of the ``AuditEntry``, with sorted fields, as it was hashed.
    package let entry: String
    /// The hash of the entry before, in hexadecimal digits; ``firstPrevious`` in the first one.
    package let previous: String
    /// 64 lower-case hexadecimal digits.
    package let hash: String

    // Copies from the entry, for searches: names in lower case.
    package let entryID: ObjectID
    package let at: UnixMilliseconds
    package let actor: String?
    package let action: String
    package let object: String

    /// Stands for the hash before the first entry.
    package static let firstPrevious = String(repeating: "0", count: 64)

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case entry, previous, hash, at, actor, action, object
        case entryID = "entry_id"
    }

    /// - Parameters:
    ///   - number: The number of the entry, from 1.
    ///   - text: The entry's JSON.
    ///   - hash: The hash over `previous` and `text`.
    package init(_ number: Int64, _ entry: AuditEntry, text: String, previous: String, hash: String) {
        id = number
        self.entry = text
        self.previous = previous
        self.hash = hash
        entryID = entry.id
        at = entry.at
        actor = entry.actor?.lowercased()
        action = entry.action
        object = entry.object.id.lowercased()
    }
}
