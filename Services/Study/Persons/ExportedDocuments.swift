import Schemas

/// A class in a person's export.
struct ExportedClass: Encodable {
    let id: ObjectID
    let name: String
    let identificationKey: String
    let role: ClassRole
    let number: Int
    let joined: UnixMilliseconds
    let newSessions: Bool

    private enum CodingKeys: String, CodingKey {
        case name, role, number, joined
        case id = "class"
        case identificationKey = "identification_key"
        case newSessions = "new_sessions"
    }

    init(_ group: ClassDocument, _ member: EnrolmentDocument) {
        id = group.id
        name = group.name
        identificationKey = group.identificationKey
        role = member.role
        number = member.number
        joined = member.joined
        newSessions = member.announces == true
    }
}

/// A session in a person's export, without the others who were there.
struct ExportedSession: Encodable {
    let id: ObjectID
    let classID: ObjectID
    let topics: [String]
    let placeName: String?
    let starts: UnixMilliseconds
    /// `nil` while it is open.
    let ended: UnixMilliseconds?
    /// When the person came, and for how many minutes they stayed; `nil` for a session that they hosted without being there.
    let joined: UnixMilliseconds?
    let minutes: Int?
    /// If the person was its host, or there at the end.
    let role: ClassRole?
    let hosted: Bool
    /// What the person as its host has said about it.
    let description: String?
    /// Of a session that the person hosts, or whose place they have chosen.
    let place: Place?

    private enum CodingKeys: String, CodingKey {
        case id, topics, starts, ended, joined, minutes, role, hosted, description, place
        case classID = "class"
        case placeName = "place_name"
    }

    init(_ session: SessionDocument, _ attendance: AttendanceDocument?, of account: String, at now: UnixMilliseconds) {
        id = session.id
        classID = session.classID
        topics = session.topics
        placeName = session.placeName
        starts = session.starts
        ended = session.ended
        joined = attendance?.joined
        minutes = attendance?.minutes(until: session.ended ?? now)
        hosted = session.host == account
        role = hosted ? session.hostRole : session.attendants.first { $0.account == account }?.role
        description = hosted ? session.description : nil
        place = hosted || session.placedBy == account ? session.place.map { Place($0, name: nil) } : nil
    }
}

/// A post in its author's export. It does not say who has removed it.
struct ExportedPost: Encodable {
    let id: ObjectID
    let classID: ObjectID
    let session: ObjectID
    let text: String
    let at: UnixMilliseconds
    let removed: UnixMilliseconds?

    private enum CodingKeys: String, CodingKey {
        case id, session, text, at, removed
        case classID = "class"
    }

    init(_ post: PostDocument) {
        (id, classID, session) = (post.id, post.classID, post.session)
        (text, at, removed) = (post.text, post.at, post.removed)
    }
}

/// An invitation in the export of the one who has invited, or is invited.
struct ExportedInvite: Encodable {
    let session: ObjectID
    let classID: ObjectID
    /// `nil` in the export of the one who is invited: this service does not know whether the two are still friends.
    let by: AccountName?
    /// In lower case.
    let to: String
    let at: UnixMilliseconds

    private enum CodingKeys: String, CodingKey {
        case session, by, to, at
        case classID = "class"
    }

    init(_ invite: InviteDocument, isOwn: Bool) {
        (session, classID, at) = (invite.session, invite.classID, invite.at)
        (by, to) = (isOwn ? invite.byName : nil, invite.to)
    }
}
