package import Base

// The commands about classes. The header's `actor` is required: it is the person. A class in which the person is not is
// `not_found`, as one that there is not. What the person's role does not allow (``ClassAction``) is `forbidden`.

/// `class.add`: a new class, whose professor is the caller. The caller of the command has checked the professor's mark.
///
/// `conflict` with the field `identification_key` if another class has it, and with `request_key` if the key was used for another
/// class. `conflict` without a field if the caller is in too many classes.
package struct AddClass: Command, Checked {
    package static let name = "class.add"
    package typealias Reply = StudyClass

    package let draft: ClassDraft
    /// The caller's key for the request and its repetitions, which get the same class.
    package let requestKey: String?

    package init(_ draft: ClassDraft, requestKey: String? = nil) {
        self.draft = draft
        self.requestKey = requestKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case draft
        case requestKey = "request_key"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(requestKey, CodingKeys.requestKey)
    }
}

/// `class.list`: the caller's classes, in the order of their names.
package struct ListClasses: Command {
    package static let name = "class.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let classes: [StudyClass]

        package init(classes: [StudyClass]) {
            self.classes = classes
        }
    }

    package init() {}
}

/// `class.get`: one class of the caller.
package struct GetClass: Command {
    package static let name = "class.get"
    package typealias Reply = StudyClass

    package let id: ObjectID

    package init(_ id: ObjectID) {
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
    }
}

/// `class.update`: changes a class. For its professor.
package struct UpdateClass: Command {
    package static let name = "class.update"
    package typealias Reply = StudyClass

    package let id: ObjectID
    package let edit: ClassEdit

    package init(_ id: ObjectID, _ edit: ClassEdit) {
        self.id = id
        self.edit = edit
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, edit
    }
}

/// `class.join`: the caller joins the class of a key, in its role. Repeated, it changes nothing and uses nothing. A student's key
/// does not make a student of a teaching assistant.
///
/// - `forbidden` with the field `key` if the key is unknown, expired, used up, or of a class that is closed: all look the same.
/// - `overloaded` with `retry_after` after too many wrong keys.
/// - `conflict` if the caller is in too many classes, or the class has too many persons.
package struct JoinClass: Command, Checked {
    package static let name = "class.join"
    package typealias Reply = StudyClass

    package let key: Secret
    /// The client's network address.
    package let address: String

    package init(key: Secret, address: String) {
        self.key = key
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case key, address
    }

    package func check() throws(SchemaViolation) {
        if let problem = StudyLimits.classKey.problem(with: key.text) { throw SchemaViolation(CodingKeys.key, problem) }
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}

/// `class.leave`: the caller is not in a class any more. A session of it that the caller hosts ends, and one that the caller
/// attends is left. Repeated, it changes nothing. `conflict` for its professor.
package struct LeaveClass: Command {
    package static let name = "class.leave"
    package typealias Reply = Done

    package let id: ObjectID

    package init(_ id: ObjectID) {
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
    }
}

/// `class.choose`: whether the caller gets pushes about new sessions of a class.
package struct ChooseClassPushes: Command {
    package static let name = "class.choose"
    package typealias Reply = StudyClass

    package let id: ObjectID
    package let newSessions: Bool

    package init(_ id: ObjectID, newSessions: Bool) {
        self.id = id
        self.newSessions = newSessions
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case newSessions = "new_sessions"
    }
}

/// `class.mates`: the accounts of the other persons of a class, page by page, in the order in which they came. The gateway asks
/// the people service which of them let the caller see their names (``ListClassmates``), and passes on nobody else. The `after`
/// of the next page names nobody, either.
package struct ListClassAccounts: Command, Checked {
    package static let name = "class.mates"

    package struct Reply: Codable, Hashable, Sendable {
        package let accounts: [AccountName]
        /// The `after` of the next page; absent on the last one.
        package let next: String?

        package init(accounts: [AccountName], next: String?) {
            self.accounts = accounts
            self.next = next
        }
    }

    package let id: ObjectID
    package let limit: Int
    package let after: String?

    package init(_ id: ObjectID, limit: Int = StudyLimits.maxClassmates, after: String? = nil) {
        self.id = id
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, limit, after
    }

    package func check() throws(SchemaViolation) {
        try (1...StudyLimits.maxClassmates).check(limit, CodingKeys.limit)
        try TextLimits(max: 1_000).check(after, CodingKeys.after)
    }
}

/// `class.shared`: whether the caller and another person are in a class together. The gateway tells the people service
/// (``ViewPerson/classmate``).
package struct CheckClassmate: Command {
    package static let name = "class.shared"

    package struct Reply: Codable, Hashable, Sendable {
        package let shared: Bool

        package init(shared: Bool) {
            self.shared = shared
        }
    }

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `study.rules`: the limits that the operator has set. The caller need not be a person.
package struct ReadStudyRules: Command {
    package static let name = "study.rules"
    package typealias Reply = StudyRules

    package init() {}
}
