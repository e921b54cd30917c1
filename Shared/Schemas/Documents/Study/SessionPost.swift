import Base

/// A post to a session.
package struct SessionPost: Codable, Hashable, Sendable {
    package let id: ObjectID
    /// Absent once the class has forgotten the name, and for all but the professor once the author has left the class.
    package let author: AccountName?
    /// The author's ``ClassMember/number``, only in the place of the name.
    package let number: Int?
    /// The author's role when it was posted.
    package let role: ClassRole
    package let text: String
    package let at: UnixMilliseconds
    /// Only for the professor, who alone sees posts that were removed.
    package let removed: Removal?

    /// Who removed a post, and when.
    package struct Removal: Codable, Hashable, Sendable {
        package let at: UnixMilliseconds
        /// Absent once the class has forgotten the name.
        package let by: AccountName?
        package let number: Int?

        package init(at: UnixMilliseconds, by: AccountName?, number: Int?) {
            self.at = at
            self.by = by
            self.number = number
        }
    }

    package init(
        id: ObjectID, author: AccountName?, number: Int?, role: ClassRole, text: String, at: UnixMilliseconds, removed: Removal?
    ) {
        self.id = id
        self.author = author
        self.number = number
        self.role = role
        self.text = text
        self.at = at
        self.removed = removed
    }
}

/// An invitation to an open session.
package struct SessionInvite: Codable, Hashable, Sendable {
    package let session: StudySession
    package let by: AccountName
    package let at: UnixMilliseconds

    package init(session: StudySession, by: AccountName, at: UnixMilliseconds) {
        self.session = session
        self.by = by
        self.at = at
    }
}
