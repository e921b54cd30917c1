import Base
import FoundationEssentials
import Schemas
import Store

/// An access code as it is stored, without its secret. One that is used up stays until its end, so that its last user can repeat the
/// request.
struct AccessCodeDocument: StoredDocument, Hashable {
    let id: ObjectID
    /// Of the code, as ``RecoveryCodes/hash(_:)`` reads it.
    let hash: String
    let grants: AccessGrant
    let note: String?
    let uses: Int
    var used: Int
    let created: UnixMilliseconds
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case hash, grants, note, uses, used, created, expires
    }

    init(_ command: AddAccessCode, _ code: Secret, now: UnixMilliseconds) {
        id = ObjectID()
        hash = RecoveryCodes.hash(code).description
        grants = command.grants
        note = command.note
        uses = command.uses
        used = 0
        created = now
        expires = command.expires
    }

    var isUsedUp: Bool { used >= uses }

    var accessCode: AccessCode {
        AccessCode(id: id, grants: grants, note: note, uses: uses, used: used, created: created, expires: expires)
    }
}

extension PeopleStore {
    static let accessCodeHash = Field("hash", \AccessCodeDocument.hash)
    static let accessCodeEnd = Field("expires", \AccessCodeDocument.expires)

    static let accessCodes = Collection<AccessCodeDocument>(
        "access_code", indexes: [.unique(accessCodeHash), .expiring(accessCodeEnd)], reserve: .changes)

    /// The maximum number of access codes that are stored.
    static let maxAccessCodes = 200
}

extension Secret {
    /// A new access code of 60 random bits, such as `K7QF-2M6X-ZB4T`.
    static func newAccessCode() -> Secret {
        let digits = Array(Base32.encode(Data.random(count: 8)).prefix(12))
        let groups = stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<$0 + 4]) }
        return Secret(groups.joined(separator: "-"))
    }
}
