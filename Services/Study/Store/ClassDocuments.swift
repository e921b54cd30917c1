import Schemas
import Store

/// A class as it is stored.
///
/// Who starts a session writes this document, with ``touch()``, so that a start and the end of the class conflict, and two starts
/// at the limit of its sessions.
struct ClassDocument: StoredDocument, Hashable {
    let id: ObjectID
    var name: String
    var description: String?
    var identificationKey: String
    /// ``identificationKey`` in lower case: no two classes have the same.
    var foldedKey: String
    /// The professor's account in lower case, and as it is written; both `nil` once it was erased.
    var professor: String?
    var professorName: AccountName?
    let created: UnixMilliseconds
    var closed: UnixMilliseconds?
    /// See ``StudyLimits/nameDays``.
    var nameDays: Int
    /// How many persons it has, and the number of the last one who came: numbers are not given again.
    var members: Int
    var lastNumber: Int
    /// What the request that made it is recognised by if it is repeated: a hash, `nil` for a request without a key.
    let request: String?
    private(set) var touched: Bool?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name, description, professor, created, closed, members, request, touched
        case identificationKey = "identification_key"
        case foldedKey = "folded_key"
        case professorName = "professor_name"
        case nameDays = "name_days"
        case lastNumber = "last_number"
    }

    mutating func touch() { touched = touched == true ? nil : true }
}

/// A key of a class as it is stored. A revoked one is removed.
struct ClassKeyDocument: StoredDocument, Hashable {
    let id: ObjectID
    let classID: ObjectID
    let role: ClassRole
    /// Without hyphens, in the form that ``Secret/codeDigits`` makes of what people type.
    var code: String
    var created: UnixMilliseconds
    let expires: UnixMilliseconds?
    let uses: Int?
    var used: Int
    let request: String?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case role, code, created, expires, uses, used, request
        case classID = "class"
    }
}

/// That a person is in a class, as it is stored.
struct EnrolmentDocument: StoredDocument, Hashable {
    let id: ObjectID
    let classID: ObjectID
    /// The account in lower case, and as it is written.
    let account: String
    let name: AccountName
    var role: ClassRole
    /// In the class.
    let number: Int
    let joined: UnixMilliseconds
    /// `true` if the person gets pushes about new sessions; `nil` otherwise.
    var announces: Bool?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case account, name, role, number, joined, announces
        case classID = "class"
    }
}

/// What a person is part of, as it is stored. It is there from the person's first class on.
///
/// Every transaction that makes or ends a part of it writes this document, with ``touch()`` if nothing else changes. So two of
/// them at the same moment conflict on MongoDB as well, and one of the two runs again: a person is in at most one session, and in
/// none of a class that they have left.
struct StudyPersonDocument: StoredDocument, Hashable {
    /// The account in lower case.
    let id: String
    /// The session in which the person is, if that is open and has the person among its attendants. It may be an earlier one.
    var current: ObjectID?
    /// The sponsored sessions that the person hosts without attending, if they are open and have this host. They may be earlier
    /// ones.
    var hosted: [ObjectID]
    /// In how many classes the person is.
    var classes: Int
    private(set) var touched: Bool?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case current, hosted, classes, touched
    }

    init(_ account: AccountName) {
        id = account.key
        hosted = []
        classes = 0
    }

    mutating func touch() { touched = touched == true ? nil : true }
}

/// That a person was erased, as long as a gateway may still take a token of theirs. Without it a request that was on its way, or
/// one by a gateway without a connection to the people service, could let them join a class again.
struct ErasedPersonDocument: StoredDocument, Hashable {
    /// The SHA-256 of the account in lower case, in hexadecimal digits.
    let id: String
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case expires
    }
}
