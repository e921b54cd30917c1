import Schemas
import Store

/// A study session as it is stored. It is open as long as it has ``open``, and has not been restored from a backup.
///
/// Every transaction that depends on whether it is open, or on who attends it, writes this document, so that two of them conflict
/// on MongoDB as well.
struct SessionDocument: StoredDocument, Hashable {
    /// Who is there, or was at the end.
    struct Attendant: Codable, Hashable, Sendable {
        /// The account in lower case, and as it is written.
        let account: String
        let name: AccountName
        let role: ClassRole
        /// In the class.
        let number: Int
        let joined: UnixMilliseconds
    }

    /// What is known of the host's presence. It has no position.
    struct Area: Codable, Hashable, Sendable {
        var state: HostPresence.State
        /// When the host was first seen outside; `nil` in every other state.
        var since: UnixMilliseconds?
    }

    /// Posts of which the attendants have not been told.
    struct News: Codable, Hashable, Sendable {
        /// When they are told.
        let due: UnixMilliseconds
        /// The account that has written them, in lower case; `nil` for several.
        let author: String?

        init(due: UnixMilliseconds, author: String?) {
            self.due = due
            self.author = author
        }

        /// - Parameter authors: The accounts, in lower case. The result is `nil` without any: there is nothing to tell.
        init?(due: UnixMilliseconds, authors: Set<String>) {
            guard let first = authors.first else { return nil }
            self.init(due: due, author: authors.count == 1 ? first : nil)
        }
    }

    let id: ObjectID
    let classID: ObjectID
    var topics: [String]
    var description: String?
    /// `nil` once the class has forgotten its names, or who has chosen it was erased: it may be where that person was.
    var place: Coordinate?
    var placeName: String?
    /// The account, in lower case, that has chosen the place; `nil` once it is erased or forgotten, and if an earlier version has
    /// stored the session.
    var placedBy: String?
    /// `true` if who has chosen the place was erased while the session was open: the place goes with its end. `nil` otherwise.
    var forgetsPlace: Bool?
    let starts: UnixMilliseconds
    var ends: UnixMilliseconds
    let sponsored: Bool
    /// The host's account in lower case, and as it is written; both `nil` once the class has forgotten them.
    var host: String?
    var hostName: AccountName?
    var hostRole: ClassRole
    var hostNumber: Int
    /// In the order of their coming. Empty once the class has forgotten the names.
    var attendants: [Attendant]
    var area: Area
    /// Whether the attendants were told that it ends soon; `nil` otherwise.
    var warned: Bool?
    /// When the attendants were last told of posts.
    var told: UnixMilliseconds?
    var news: News?
    /// The number of posts that have not been removed.
    var posts: Int
    /// `true` while it is open; `nil` afterwards.
    var open: Bool?
    var ended: UnixMilliseconds?
    var reason: SessionEnd?
    /// When the service has to look at it next: its end, the push before it, the end of the host's grace, or a push about posts.
    /// `nil` once it has ended.
    var due: UnixMilliseconds?
    /// Until when its names are kept; `nil` while it is open, and once they are forgotten.
    var namesUntil: UnixMilliseconds?
    /// When `msi restore` put it back from a backup while it was open (``StudyHold``); `nil` for any other.
    var restored: UnixMilliseconds?
    /// As that of a class.
    let request: String?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case topics, description, place, starts, ends, sponsored, host, attendants, area, warned, told, news, posts, open, ended,
            reason, due, restored, request
        case classID = "class"
        case placeName = "place_name"
        case placedBy = "placed_by"
        case forgetsPlace = "forgets_place"
        case hostName = "host_name"
        case hostRole = "host_role"
        case hostNumber = "host_number"
        case namesUntil = "names_until"
    }
}

/// That a person was at a session, as it is stored: one document for all stays. While the session is open, the person is there if
/// the session says so; afterwards a stay without an end ended with it.
struct AttendanceDocument: StoredDocument, Hashable {
    let id: ObjectID
    let session: ObjectID
    let classID: ObjectID
    /// The account in lower case, and as it is written; both `nil` once the class has forgotten them.
    var account: String?
    var name: AccountName?
    /// In the class.
    let number: Int
    /// When the person came first.
    let joined: UnixMilliseconds
    /// When the last stay began, and when it ended; no end while it lasts, or if it ended with the session.
    var since: UnixMilliseconds
    var left: UnixMilliseconds?
    /// The milliseconds of all stays before the last one.
    var before: Int64

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case session, account, name, number, joined, since, left, before
        case classID = "class"
    }
}

/// A post as it is stored. One that was removed stays, for the professor.
struct PostDocument: StoredDocument, Hashable {
    let id: ObjectID
    let session: ObjectID
    let classID: ObjectID
    /// The author's account in lower case, and as it is written; both `nil` once the class has forgotten them.
    var author: String?
    var authorName: AccountName?
    /// In the class.
    let number: Int
    let role: ClassRole
    let text: String
    let at: UnixMilliseconds
    /// When the attendants are told of it together with others; `nil` if they were told at once, or an earlier version has stored
    /// it.
    let news: UnixMilliseconds?
    var removed: UnixMilliseconds?
    /// Who has removed it, as ``author``.
    var removedBy: String?
    var removedByName: AccountName?
    var removedByNumber: Int?
    /// As that of a class.
    let request: String?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case session, author, number, role, text, at, news, removed, request
        case classID = "class"
        case authorName = "author_name"
        case removedBy = "removed_by"
        case removedByName = "removed_by_name"
        case removedByNumber = "removed_by_number"
    }
}

/// An invitation as it is stored. It counts only while its session is open, and is kept until the latest moment at which that may
/// end.
struct InviteDocument: StoredDocument, Hashable {
    let id: ObjectID
    let session: ObjectID
    let classID: ObjectID
    /// The account in lower case.
    let to: String
    /// Who has invited, in lower case and as it is written.
    let by: String
    let byName: AccountName
    let at: UnixMilliseconds
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case session, to, by, at, expires
        case classID = "class"
        case byName = "by_name"
    }
}
