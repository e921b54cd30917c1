package import Base

/// A study session as the persons of its class see it.
package struct StudySession: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let classID: ObjectID
    package let topics: [String]
    package let description: String?
    /// Absent once the class has forgotten the names of a session that has ended, or who has chosen it was erased.
    package let place: Place?
    package let starts: UnixMilliseconds
    /// When it ends, or has ended.
    package let ends: UnixMilliseconds
    /// Whether the class's staff has started it as theirs.
    package let sponsored: Bool
    /// Absent once the class has forgotten it, and of a session that has ended for everybody but the host and the professor.
    package let host: AccountName?
    package let hostRole: ClassRole
    /// Who is there now, in the order of their coming. The host of a sponsored session need not be. Of a session that has ended the
    /// professor sees who was there at the end, and everybody else at most themselves.
    package let attendants: [AccountName]
    /// The maximum number of attendants.
    package let room: Int
    /// Why it has ended; absent while it is open.
    package let ended: SessionEnd?

    package init(
        id: ObjectID, classID: ObjectID, topics: [String], description: String?, place: Place?, starts: UnixMilliseconds,
        ends: UnixMilliseconds, sponsored: Bool, host: AccountName?, hostRole: ClassRole, attendants: [AccountName], room: Int,
        ended: SessionEnd? = nil
    ) {
        self.id = id
        self.classID = classID
        self.topics = topics
        self.description = description
        self.place = place
        self.starts = starts
        self.ends = ends
        self.sponsored = sponsored
        self.host = host
        self.hostRole = hostRole
        self.attendants = attendants
        self.room = room
        self.ended = ended
    }

    private enum CodingKeys: String, CodingKey {
        case id, topics, description, place, starts, ends, sponsored, host, attendants, room, ended
        case classID = "class"
        case hostRole = "host_role"
    }
}

/// Why a session has ended.
package enum SessionEnd: String, ClosedEnum {
    /// Its time was over.
    case time
    /// Its host has ended it, or has left it.
    case host
    /// Its host has left the area.
    case left
    /// The class's staff has ended it.
    case staff
    /// Its host is not in the class any more, or the class was closed.
    case closed
    /// The data was restored from a backup.
    case restored
}

/// A session, and the hub's time when it was read. Devices compute what is left of a session from both, since their own clocks
/// may be wrong.
package struct SessionAnswer: Codable, Hashable, Sendable {
    package let session: StudySession
    package let now: UnixMilliseconds

    package init(_ session: StudySession, now: UnixMilliseconds) {
        self.session = session
        self.now = now
    }
}

/// The body of `POST /classes/{id}/sessions`.
package struct SessionDraft: Codable, Checked, Hashable, Sendable {
    package let topics: [String]
    package let description: String?
    package let place: Place
    /// The planned duration.
    package let minutes: Int
    /// Where the caller is. Necessary unless the session is ``sponsored``.
    package let position: Position?
    /// Only for the class's staff.
    package let sponsored: Bool?
    /// `false` if the caller does not attend a sponsored session. By default the caller attends if ``position`` is near.
    package let attends: Bool?
    /// `true` to leave the session in which the caller is, or to end it as its host.
    package let leave: Bool?

    package init(
        topics: [String], description: String? = nil, place: Place, minutes: Int, position: Position? = nil,
        sponsored: Bool? = nil, attends: Bool? = nil, leave: Bool? = nil
    ) {
        self.topics = topics
        self.description = description
        self.place = place
        self.minutes = minutes
        self.position = position
        self.sponsored = sponsored
        self.attends = attends
        self.leave = leave
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case topics, description, place, minutes, position, sponsored, attends, leave
    }

    package func check() throws(SchemaViolation) {
        try SessionTopics.check(topics, CodingKeys.topics)
        try StudyLimits.sessionDescription.check(description, CodingKeys.description)
        try StudyLimits.minutes.check(minutes, CodingKeys.minutes)
        guard attends == nil || sponsored == true else {
            throw SchemaViolation(CodingKeys.attends, "expected none: only a sponsored session may be without its host")
        }
    }
}

/// The body of `PUT /classes/{id}/sessions/{id}`. What is absent stays as it is.
package struct SessionEdit: Codable, Checked, Hashable, Sendable {
    package let topics: [String]?
    package let description: String?
    /// Needs a ``position`` that is near, unless the session is sponsored and the caller of the class's staff.
    package let place: Place?
    /// The planned duration, counted from the start.
    package let minutes: Int?
    package let position: Position?
    /// Another attendant, who hosts the session from now on.
    package let host: AccountName?

    package init(
        topics: [String]? = nil, description: String? = nil, place: Place? = nil, minutes: Int? = nil,
        position: Position? = nil, host: AccountName? = nil
    ) {
        self.topics = topics
        self.description = description
        self.place = place
        self.minutes = minutes
        self.position = position
        self.host = host
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case topics, description, place, minutes, position, host
    }

    package func check() throws(SchemaViolation) {
        if let topics { try SessionTopics.check(topics, CodingKeys.topics) }
        try StudyLimits.sessionDescription.check(description, CodingKeys.description)
        try StudyLimits.minutes.check(minutes, CodingKeys.minutes)
    }
}

/// What a session is about: 1 to ``StudyLimits/maxTopics`` short texts, each once. Case, invisible characters
/// and the amount of white space make no difference.
enum SessionTopics {
    static func check(_ topics: [String], _ field: some CodingKey) throws(SchemaViolation) {
        let limits = 1...Int64(StudyLimits.maxTopics)
        guard limits.contains(Int64(topics.count)) else {
            throw SchemaViolation(
                field, "expected 1 to \(StudyLimits.maxTopics) topics, found \(topics.count)", limit: .range(limits))
        }
        for (place, topic) in topics.enumerated() {
            guard let problem = StudyLimits.topic.problem(with: topic) else { continue }
            throw SchemaViolation(field: "\(field.stringValue)[\(place)]", problem: problem, limit: StudyLimits.topic.limit)
        }
        guard Set(topics.map(\.tidied.caseFolded)).count == topics.count else {
            throw SchemaViolation(
                field, "expected each topic once; case, white space and invisible characters make no difference")
        }
    }
}

/// What the hub makes of the position that the host of a session has reported.
package struct HostPresence: Codable, Hashable, Sendable {
    package enum State: String, ClosedEnum {
        /// The host was never inside the area. The session does not end because of that.
        case never
        case inside
        /// The session ends at ``HostPresence/ends``, unless the host comes back.
        case outside
    }

    package let state: State
    /// Only with ``State/outside``.
    package let ends: UnixMilliseconds?
    /// `true` if the report did not count, because its accuracy is not sufficient; absent otherwise.
    package let inaccurate: Bool?

    package init(_ state: State, ends: UnixMilliseconds? = nil, inaccurate: Bool = false) {
        self.state = state
        self.ends = ends
        self.inaccurate = inaccurate ? true : nil
    }
}
