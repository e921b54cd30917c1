import Base

/// A session that has ended, as the professor of the class sees it.
package struct PastSession: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let topics: [String]
    package let description: String?
    /// What people called the place; absent for none.
    package let placeName: String?
    package let starts: UnixMilliseconds
    package let ended: UnixMilliseconds
    package let reason: SessionEnd
    package let sponsored: Bool
    package let host: PastPerson
    /// Everybody who was there, in the order of their coming.
    package let attendants: [PastAttendance]
    /// The number of posts, without those that were removed.
    package let posts: Int

    package init(
        id: ObjectID, topics: [String], description: String?, placeName: String?, starts: UnixMilliseconds,
        ended: UnixMilliseconds, reason: SessionEnd, sponsored: Bool, host: PastPerson, attendants: [PastAttendance], posts: Int
    ) {
        self.id = id
        self.topics = topics
        self.description = description
        self.placeName = placeName
        self.starts = starts
        self.ended = ended
        self.reason = reason
        self.sponsored = sponsored
        self.host = host
        self.attendants = attendants
        self.posts = posts
    }

    private enum CodingKeys: String, CodingKey {
        case id, topics, description, starts, ended, reason, sponsored, host, attendants, posts
        case placeName = "place_name"
    }
}

/// A person in the history of a class: the name as long as the class keeps it, then the number alone.
package struct PastPerson: Codable, Hashable, Sendable {
    package let account: AccountName?
    package let number: Int

    package init(account: AccountName?, number: Int) {
        self.account = account
        self.number = number
    }
}

/// That a person was at a session.
package struct PastAttendance: Codable, Hashable, Sendable {
    package let person: PastPerson
    package let joined: UnixMilliseconds
    /// The whole minutes of all stays.
    package let minutes: Int

    package init(person: PastPerson, joined: UnixMilliseconds, minutes: Int) {
        self.person = person
        self.joined = joined
        self.minutes = minutes
    }
}

/// A session that has ended, as one of its attendants sees it. It does not say who else was there.
package struct OwnPastSession: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let classID: ObjectID
    package let topics: [String]
    /// When the caller came first.
    package let joined: UnixMilliseconds
    /// The whole minutes of the caller's stays.
    package let minutes: Int
    /// Whether the caller was its host when it ended. Who has handed it over was not.
    package let hosted: Bool

    package init(id: ObjectID, classID: ObjectID, topics: [String], joined: UnixMilliseconds, minutes: Int, hosted: Bool) {
        self.id = id
        self.classID = classID
        self.topics = topics
        self.joined = joined
        self.minutes = minutes
        self.hosted = hosted
    }

    private enum CodingKeys: String, CodingKey {
        case id, topics, joined, minutes, hosted
        case classID = "class"
    }
}
