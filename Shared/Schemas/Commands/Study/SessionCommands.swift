package import Base

// The commands about study sessions. The header's `actor` is required: it is the person. A class in which the person is not, and
// a session that is not of the class, are `not_found`. What has ended within ``StudyLimits/endedTime`` is `conflict` with the
// field `ended`.

/// `study_session.list`: the open sessions of a class.
package struct ListSessions: Command {
    package static let name = "study_session.list"

    package struct Reply: Codable, Hashable, Sendable {
        /// The one that began last comes first.
        package let sessions: [StudySession]
        package let now: UnixMilliseconds

        package init(sessions: [StudySession], now: UnixMilliseconds) {
            self.sessions = sessions
            self.now = now
        }
    }

    package let classID: ObjectID

    package init(of classID: ObjectID) {
        self.classID = classID
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case classID = "class"
    }
}

/// `study_session.near`: the open sessions of all of the caller's classes around a point, the nearest first, at most
/// ``StudyLimits/maxNear``. They may be a second old.
package struct FindNearSessions: Command, Checked {
    package static let name = "study_session.near"

    package struct Found: Codable, Hashable, Sendable {
        package let session: StudySession
        /// In metres.
        package let distance: Int

        package init(_ session: StudySession, distance: Int) {
            self.session = session
            self.distance = distance
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        package let sessions: [Found]
        package let now: UnixMilliseconds

        package init(sessions: [Found], now: UnixMilliseconds) {
            self.sessions = sessions
            self.now = now
        }
    }

    package let position: Position
    /// In metres.
    package let radius: Int

    package init(around position: Position, radius: Int) {
        self.position = position
        self.radius = radius
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case position, radius
    }

    package func check() throws(SchemaViolation) {
        try StudyLimits.searchRadius.check(radius, CodingKeys.radius)
    }
}

/// `study_session.own`: what the caller has to do with open sessions.
package struct ReadOwnSessions: Command {
    package static let name = "study_session.own"

    package struct Reply: Codable, Hashable, Sendable {
        /// The one in which the caller is; absent for none.
        package let current: StudySession?
        /// Sponsored sessions that the caller hosts and does not attend.
        package let hosted: [StudySession]
        /// The newest first.
        package let invites: [SessionInvite]
        package let now: UnixMilliseconds

        package init(current: StudySession?, hosted: [StudySession], invites: [SessionInvite], now: UnixMilliseconds) {
            self.current = current
            self.hosted = hosted
            self.invites = invites
            self.now = now
        }
    }

    package init() {}
}

/// `study_session.past`: the sessions at which the caller was and that have ended, the latest first, page by page.
package struct ListOwnPastSessions: Command, Checked {
    package static let name = "study_session.past"

    package struct Reply: Codable, Hashable, Sendable {
        package let sessions: [OwnPastSession]
        /// The `after` of the next page; absent on the last one.
        package let next: String?

        package init(sessions: [OwnPastSession], next: String?) {
            self.sessions = sessions
            self.next = next
        }
    }

    package let limit: Int
    package let after: String?

    package init(limit: Int, after: String? = nil) {
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
    }

    package func check() throws(SchemaViolation) {
        try StudyLimits.page.check(limit, CodingKeys.limit)
        try TextLimits(max: 1_000).check(after, CodingKeys.after)
    }
}

/// `study_session.history`: the sessions of a class that have ended, the latest first, page by page. For the professor.
package struct ListPastSessions: Command, Checked {
    package static let name = "study_session.history"

    package struct Reply: Codable, Hashable, Sendable {
        package let sessions: [PastSession]
        /// The `after` of the next page; absent on the last one. A page may be short, or empty, although more follow.
        package let next: String?

        package init(sessions: [PastSession], next: String?) {
            self.sessions = sessions
            self.next = next
        }
    }

    package let classID: ObjectID
    /// Only sessions that ended in this time, its end excluded. It must have a length.
    package let from: UnixMilliseconds?
    package let until: UnixMilliseconds?
    /// Only sessions with this topic. Case, white space around it and invisible characters make no difference.
    package let topic: String?
    package let limit: Int
    package let after: String?

    package init(
        of classID: ObjectID, from: UnixMilliseconds? = nil, until: UnixMilliseconds? = nil, topic: String? = nil, limit: Int,
        after: String? = nil
    ) {
        self.classID = classID
        self.from = from
        self.until = until
        self.topic = topic
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case from, until, topic, limit, after
        case classID = "class"
    }

    package func check() throws(SchemaViolation) {
        try (0...maximumUnixMilliseconds).check(from, CodingKeys.from)
        try (0...maximumUnixMilliseconds).check(until, CodingKeys.until)
        try Self.checkTime(from: from, until: until, CodingKeys.until)
        try StudyLimits.topic.check(topic, CodingKeys.topic)
        try StudyLimits.page.check(limit, CodingKeys.limit)
        try TextLimits(max: 1_000).check(after, CodingKeys.after)
    }

    /// In a time without a length there is nothing, which would look like a class without a history.
    ///
    /// - Parameter field: That of ``until``.
    package static func checkTime(
        from: UnixMilliseconds?, until: UnixMilliseconds?, _ field: some CodingKey
    ) throws(SchemaViolation) {
        guard let from, let until, until <= from else { return }
        throw SchemaViolation(field, "expected a time after from")
    }
}

/// `study_session.get`: one session. One that has ended is `not_found` except to those who were there, and to the professor.
package struct GetSession: Command {
    package static let name = "study_session.get"
    package typealias Reply = SessionAnswer

    package let classID: ObjectID
    package let id: ObjectID

    package init(_ id: ObjectID, of classID: ObjectID) {
        self.classID = classID
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case classID = "class"
    }
}
