import Schemas
import Store

/// A message as it is stored, from its acceptance until it is removed: the inbox of its recipient is all messages ``to`` them.
/// (The seed keeps the inbox in the recipient's document. Here each message is a separate document, so that none grows without
/// a bound.)
///
/// It does not change. The ``ConversationDocument`` says how far it is.
struct DirectMessageDocument: StoredDocument, Hashable {
    let id: ObjectID
    /// ``ConversationDocument/id``.
    let conversation: String
    /// Its place in the conversation, and its place among the messages of its sender there, from 1.
    let number: Int64
    let count: Int
    /// The recipient and the sender, in lower case and as they are written.
    let to: String
    let toName: AccountName
    let from: String
    let fromName: AccountName
    /// Its position among what is new for the recipient, and for the sender: see ``MessagingPersonDocument/position``.
    let toPosition: Int64
    let fromPosition: Int64
    let text: String?
    let picture: StoredPicture?
    let at: UnixMilliseconds
    /// `true` if the two were classmates and no friends; `nil` otherwise.
    let classmate: Bool?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case conversation, number, count, to, from, text, picture, at, classmate
        case toName = "to_name"
        case fromName = "from_name"
        case toPosition = "to_position"
        case fromPosition = "from_position"
    }
}

/// What two persons have said to each other, without the messages: the counter that orders them, and how far each side is.
///
/// Each transaction that sends, confirms, reads or removes a message writes this document, so that two of them conflict on
/// MongoDB as well. All numbers of a side are places in the conversation, and only grow.
struct ConversationDocument: StoredDocument, Hashable {
    /// One of the two persons.
    struct Side: Codable, Hashable, Sendable {
        /// The account in lower case, and as it is written.
        let account: String
        var name: AccountName
        /// How many messages the person has sent.
        var sent: Int
        /// Up to which number a device of the person has the other one's messages, up to which the person has read them, and up
        /// to which they were removed; and up to which those were removed that had waited for too long. 0 for none.
        var delivered: Int64
        var read: Int64
        var removed: Int64
        var expired: Int64
        /// The ``DirectMessageDocument/count`` of the last message of the other one that was read.
        var readCount: Int
        /// The person's position at the last change that the person sees.
        var changed: Int64

        enum CodingKeys: String, CodingKey {
            case account, name, sent, delivered, read, removed, expired, changed
            case readCount = "read_count"
        }

        init(_ name: AccountName) {
            account = name.key
            self.name = name
            sent = 0
            delivered = 0
            read = 0
            removed = 0
            expired = 0
            readCount = 0
            changed = 0
        }
    }

    /// The two accounts in lower case, in their order, with a space between.
    let id: String
    var first: Side
    var second: Side
    /// The number of the last message. The next one has the time, or one more if that is not later: also after a restore no
    /// number is given again.
    var last: Int64
    /// `true` if the two were classmates and no friends at its last message; `nil` otherwise.
    var classmates: Bool?
    /// When the service has to look for messages of it that can be removed; `nil` for never.
    var due: UnixMilliseconds?
    /// When `msi restore` put it back from a backup (``MessagingHold``), until what was removed since is removed again; `nil`
    /// for any other.
    var restored: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case first, second, last, classmates, due, restored
    }

    /// Of two persons, in any order.
    init(_ one: AccountName, _ other: AccountName) {
        let isInOrder = one.key < other.key
        id = Self.id(of: one.key, and: other.key)
        first = Side(isInOrder ? one : other)
        second = Side(isInOrder ? other : one)
        last = 0
    }

    /// Of two accounts in lower case, in any order.
    static func id(of one: String, and other: String) -> String { one < other ? "\(one) \(other)" : "\(other) \(one)" }
}

/// What is kept of a message for longer than the message: a keyed digest of what was said, by which a report of it is verified,
/// and a repeated request recognised.
struct MessageDigestDocument: StoredDocument, Hashable {
    /// The message's.
    let id: ObjectID
    /// The two persons, in lower case.
    let from: String
    let to: String
    let number: Int64
    let at: UnixMilliseconds
    /// HMAC-SHA256 in hexadecimal digits: see ``MessageDigest``.
    let digest: String
    /// What the request that made the message is recognised by if it is repeated: a hash, `nil` for a request without a key.
    let request: String?
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case from, to, number, at, digest, request, expires
    }
}
