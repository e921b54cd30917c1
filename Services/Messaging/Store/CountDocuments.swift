import Schemas
import Store

/// The key of the digests, as it is stored. It is made once: with another one no report could be verified any more.
struct DigestKeyDocument: StoredDocument, Hashable {
    static let id = "digest"

    let id: String
    /// In Base64.
    let bytes: String

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case bytes
    }
}

/// What all pictures take up, as it is stored. Each transaction that stores or removes a picture writes it.
struct PictureTotalDocument: StoredDocument, Hashable {
    static let id = "pictures"

    let id: String
    var bytes: Int64

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case bytes
    }
}

/// The calls of a month, as they are stored.
struct CallsDocument: StoredDocument, Hashable {
    /// The month in UTC, such as `2026-05`.
    let id: String
    /// By the names of the seed's operations and of the others.
    var calls: [String: Int64]
    /// Thirteen months after it.
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case calls, expires
    }
}
