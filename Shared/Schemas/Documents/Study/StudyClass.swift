package import Base

/// A class as one of its persons sees it.
package struct StudyClass: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let name: String
    package let description: String?
    /// The short name that the professor has chosen, such as `CS251-F26`. It is no secret: nobody joins with it.
    package let identificationKey: String
    /// Absent if the professor's account was erased, until the operator gives the class to another one.
    package let professor: AccountName?
    /// What the caller is in the class.
    package let role: ClassRole
    /// Whether the caller gets a push when a session begins.
    package let newSessions: Bool
    package let created: UnixMilliseconds
    /// When it was closed: nobody joins it or starts a session any more. Absent for one that is open.
    package let closed: UnixMilliseconds?
    /// The number of its persons, and of its open sessions.
    package let members: Int
    package let sessions: Int
    /// See ``StudyLimits/nameDays``. Only for the professor.
    package let nameDays: Int?

    package init(
        id: ObjectID, name: String, description: String?, identificationKey: String, professor: AccountName?, role: ClassRole,
        newSessions: Bool, created: UnixMilliseconds, closed: UnixMilliseconds?, members: Int, sessions: Int, nameDays: Int?
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.identificationKey = identificationKey
        self.professor = professor
        self.role = role
        self.newSessions = newSessions
        self.created = created
        self.closed = closed
        self.members = members
        self.sessions = sessions
        self.nameDays = nameDays
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, description, professor, role, created, closed, members, sessions
        case identificationKey = "identification_key"
        case newSessions = "new_sessions"
        case nameDays = "name_days"
    }
}

/// The body of `POST /class`.
package struct ClassDraft: Codable, Checked, Hashable, Sendable {
    package let name: String
    package let description: String?
    package let identificationKey: String
    package let nameDays: Int?

    package init(name: String, description: String? = nil, identificationKey: String, nameDays: Int? = nil) {
        self.name = name
        self.description = description
        self.identificationKey = identificationKey
        self.nameDays = nameDays
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, description
        case identificationKey = "identification_key"
        case nameDays = "name_days"
    }

    package func check() throws(SchemaViolation) {
        try StudyLimits.className.check(name, CodingKeys.name)
        try StudyLimits.classDescription.check(description, CodingKeys.description)
        try StudyLimits.identificationKey.check(identificationKey, CodingKeys.identificationKey)
        try StudyLimits.nameDays.check(nameDays, CodingKeys.nameDays)
    }
}

/// The body of `PUT /classes/{id}`. What is absent stays as it is.
package struct ClassEdit: Codable, Checked, Hashable, Sendable {
    package let name: String?
    package let description: String?
    package let identificationKey: String?
    package let nameDays: Int?
    /// `true` closes the class: its open sessions end, and nobody joins. `false` opens it again.
    package let closed: Bool?

    package init(
        name: String? = nil, description: String? = nil, identificationKey: String? = nil, nameDays: Int? = nil,
        closed: Bool? = nil
    ) {
        self.name = name
        self.description = description
        self.identificationKey = identificationKey
        self.nameDays = nameDays
        self.closed = closed
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, description, closed
        case identificationKey = "identification_key"
        case nameDays = "name_days"
    }

    package func check() throws(SchemaViolation) {
        try StudyLimits.className.check(name, CodingKeys.name)
        try StudyLimits.classDescription.check(description, CodingKeys.description)
        try StudyLimits.identificationKey.check(identificationKey, CodingKeys.identificationKey)
        try StudyLimits.nameDays.check(nameDays, CodingKeys.nameDays)
    }
}

/// A key with which people join a class, in one role. The professor can look at it again at any time.
package struct ClassKey: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let role: ClassRole
    /// What people type, such as `K7QF-2M9X`.
    package let code: Secret
    package let created: UnixMilliseconds
    /// Absent for never.
    package let expires: UnixMilliseconds?
    /// How often it may be used; absent for any number. And how often it was.
    package let uses: Int?
    package let used: Int

    package init(
        id: ObjectID, role: ClassRole, code: Secret, created: UnixMilliseconds, expires: UnixMilliseconds?, uses: Int?, used: Int
    ) {
        self.id = id
        self.role = role
        self.code = code
        self.created = created
        self.expires = expires
        self.uses = uses
        self.used = used
    }
}

/// A person of a class, as its staff sees them.
package struct ClassMember: Codable, Hashable, Sendable {
    package let account: AccountName
    package let role: ClassRole
    /// What takes the place of the name in the history once that is forgotten.
    package let number: Int
    package let joined: UnixMilliseconds

    package init(account: AccountName, role: ClassRole, number: Int, joined: UnixMilliseconds) {
        self.account = account
        self.role = role
        self.number = number
        self.joined = joined
    }
}
