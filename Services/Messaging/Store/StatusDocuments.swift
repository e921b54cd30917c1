import Schemas
import Store

/// The status of a person as it is stored: a person has one at most.
struct StatusDocument: StoredDocument, Hashable {
    /// The account in lower case.
    let id: String
    /// Of this status: another one of the person has another one.
    let status: ObjectID
    let name: AccountName
    let text: String?
    let picture: StoredPicture?
    let at: UnixMilliseconds
    /// From this moment on nobody sees it.
    let expires: UnixMilliseconds
    /// By how many friends it was seen.
    var seen: Int
    /// When `msi restore` put it back from a backup (``MessagingHold``): then nobody sees it, and it is removed; `nil` for any
    /// other.
    var restored: UnixMilliseconds?
    /// As that of a message's digest.
    let request: String?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case status, name, text, picture, at, expires, seen, restored, request
    }
}

/// That a friend has seen a status, as it is stored.
struct StatusViewDocument: StoredDocument, Hashable {
    let id: ObjectID
    let status: ObjectID
    /// The account in lower case.
    let viewer: String
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case status, viewer, expires
    }
}
