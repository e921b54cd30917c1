import Crypto
import FoundationEssentials
import Base
package import Schemas

/// Verifies the audit log, entry by entry in the order of their numbers. Pure.
///
/// A change of an entry, a missing one and an inserted one are detected by the hashes alone. A person who can write to the database
/// could recompute all later hashes; this is detected with a hash that was logged outside the database.
package struct AuditVerification {
    /// The number and hash of the last entry whose hash is correct.
    package private(set) var verified = AuditHead.empty
    private let logged: [Int64: Set<String>]
    private let lastLogged: Int64

    /// - Parameter logged: Numbers and hashes that the people service has logged.
    package init(logged: [AuditHead] = []) {
        self.logged = Dictionary(grouping: logged, by: \.number).mapValues { Set($0.map(\.hash)) }
        lastLogged = logged.map(\.number).max() ?? 0
    }

    /// Verifies the next part of the log.
    package mutating func verify(_ part: ReadAuditChain.Reply) throws(AuditFault) {
        if let id = part.unreadable.first { throw AuditFault(behind: verified.number, unreadable: id) }
        for link in part.links { try verify(link) }
        if part.next == nil { try finish(part.head) }
    }

    /// Verifies the next entry.
    package mutating func verify(_ link: AuditLink) throws(AuditFault) {
        let number = verified.number + 1
        guard link.id == number else { throw AuditFault(number, "is missing") }
        guard link.previous == verified.hash else {
            throw AuditFault(number, "does not follow entry \(verified.number): it was inserted, or one of them was replaced")
        }
        guard link.hash == AuditLink.hash(of: link.entry, behind: link.previous) else { throw AuditFault(number, "was changed") }
        guard link.hasCopiesOfEntry else { throw AuditFault(number, "was changed: the fields for searches differ from it") }
        if let other = logged[number]?.first(where: { $0 != link.hash }) {
            throw AuditFault(number, "has another hash than the logged \(other): it or an earlier one was changed")
        }
        verified = AuditHead(number: number, hash: link.hash)
    }

    /// Verifies that these were all entries.
    ///
    /// - Parameter head: The newest entry according to the log itself.
    package func finish(_ head: AuditHead) throws(AuditFault) {
        guard head.number <= verified.number else {
            throw AuditFault(verified.number + 1, "is missing: the log was cut off, it had \(head.number) entries")
        }
        guard head == verified else { throw AuditFault(verified.number, "is not the newest entry that the log had counted") }
        guard lastLogged <= verified.number else {
            throw AuditFault(verified.number + 1, "is missing: the log was cut off, the hash of entry \(lastLogged) was logged")
        }
    }
}

/// The first broken entry of the audit log, or a document in the log that is not an entry.
package struct AuditFault: Error, Hashable, CustomStringConvertible {
    /// The first number that is not verified.
    package let number: Int64
    package let description: String

    init(_ number: Int64, _ problem: String) {
        self.number = number
        description = "entry \(number) \(problem)"
    }

    /// A document behind some verified entries cannot be read.
    init(behind verified: Int64, unreadable id: String) {
        number = verified + 1
        description = "the document \(id) is no readable entry: it was inserted or damaged"
    }
}

extension AuditLink {
    /// The link of a new entry behind the newest one.
    package init(_ entry: WrittenAuditEntry, behind head: AuditHead) {
        self.init(
            head.number + 1, entry, previous: head.hash, hash: Self.hash(of: entry.json, behind: head.hash))
    }

    /// The SHA-256 of the previous hash and an entry's JSON, in lower-case hexadecimal digits.
    package static func hash(of entry: String, behind previous: String) -> String {
        var sha = SHA256()
        for text in [previous, entry] {
            var text = text
            text.withUTF8 { sha.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        }
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
