import Crypto
import FoundationEssentials
import JSON
package import Schemas

extension AuditLink {
    /// The link of a new entry behind the newest one.
    package init(_ entry: AuditEntry, behind head: AuditHead) throws {
        let text = String(decoding: try JSONCoder.encode(entry), as: UTF8.self)
        self.init(
            head.number + 1, entry, text: text, previous: head.hash, hash: Self.hash(of: text, behind: head.hash))
    }

    /// The SHA-256 of the previous hash and an entry's JSON, in lower-case hexadecimal digits.
    package static func hash(of entry: String, behind previous: String) -> String {
        var sha = SHA256()
        sha.update(data: Data(previous.utf8))
        sha.update(data: Data(entry.utf8))
        return sha.finalize().hexadecimal
    }

    /// The entry; `nil` if its text is none.
    package var content: AuditEntry? {
        try? JSONCoder.decode(from: Data(entry.utf8))
    }

    /// Whether the fields for searches are those of the entry. The entry itself is covered by the hash: another version of the
    /// product may have written it, with other fields.
    var hasCopiesOfEntry: Bool {
        guard let searched = try? JSONCoder.decode(SearchedFields.self, from: Data(entry.utf8)) else { return false }
        return (entryID, at, actor) == (searched.id, searched.at, searched.actor?.lowercased())
            && (action, object) == (searched.action, searched.object.id.lowercased())
    }
}

/// The fields of an entry that its link has copies of.
private struct SearchedFields: Decodable {
    struct Object: Decodable {
        let id: String
    }

    let id: ObjectID
    let at: UnixMilliseconds
    let actor: String?
    let action: String
    let object: Object
}
