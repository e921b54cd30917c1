import Schemas
import Storage
import Time

/// A change that holders of copies of credentials must learn of.
struct ChangeDocument: StoredDocument, Hashable {
    /// How long it is kept. A gateway that was away for longer forgets all of its copies.
    static let keptFor = Milliseconds.seconds(24 * 3_600)

    let id: ObjectID
    /// Its number, from 1 and without gaps.
    let sequence: Int64
    let change: CredentialChange
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case sequence, change, expires
    }

    init(sequence: Int64, change: CredentialChange, now: UnixMilliseconds) {
        id = ObjectID()
        self.sequence = sequence
        self.change = change
        expires = now + Self.keptFor
    }
}

/// The number of the changes. Each change increments it, so that no two transactions change accounts at the same time, on both
/// databases.
struct ChangeCounter: StoredDocument, Hashable {
    static let id = "people"

    let id: String
    var sequence: Int64

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case sequence
    }
}
