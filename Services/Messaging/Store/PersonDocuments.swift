import Schemas
import Store

/// A person who takes part in messages, as it is stored. It is there from the first message, fetch or choice on.
///
/// Every transaction that makes something new for the person writes this document. So the positions of what is new have the
/// order of the commits, and a device that has everything up to one has missed nothing.
struct MessagingPersonDocument: StoredDocument, Hashable {
    /// The account in lower case.
    let id: String
    /// The position of the last thing that is new for the person. The next one has the time in milliseconds, or one more if
    /// that is not later: also after a restore none is given again.
    var position: Int64
    /// How many messages wait for the person.
    var waiting: Int
    /// `true` if nobody is told what the person has read; `nil` otherwise.
    var hidesReading: Bool?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case position, waiting
        case hidesReading = "hides_reading"
    }

    init(_ account: AccountName) {
        id = account.key
        position = 0
        waiting = 0
    }
}

/// A device that takes part in messages, as it is stored. It is there from its first fetch on, until it has not fetched for
/// five weeks or the people service does not have it any more.
struct MessagingDeviceDocument: StoredDocument, Hashable {
    let id: ObjectID
    /// The account in lower case.
    let account: String
    /// Up to which position it has everything.
    var received: Int64
    /// When it last asked for messages, an hour late at most.
    var seen: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case account, received, seen
    }
}
