package import Base

// The commands about the persons of a class. The header's `actor` is required: it is of the class's staff.

/// `class_member.list`: the persons of a class in the order of their names, page by page.
package struct ListClassMembers: Command, Checked {
    package static let name = "class_member.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let members: [ClassMember]
        /// The `after` of the next page; absent on the last one.
        package let next: String?

        package init(members: [ClassMember], next: String?) {
            self.members = members
            self.next = next
        }
    }

    package let classID: ObjectID
    package let limit: Int
    package let after: String?

    package init(of classID: ObjectID, limit: Int, after: String? = nil) {
        self.classID = classID
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
        case classID = "class"
    }

    package func check() throws(SchemaViolation) {
        try StudyLimits.page.check(limit, CodingKeys.limit)
        try TextLimits(max: 1_000).check(after, CodingKeys.after)
    }
}

/// `class_member.update`: makes a student a teaching assistant, or the other way round. For the professor; the audit log has it.
/// `conflict` for the professor's own role.
package struct ChangeClassRole: Command, Checked {
    package static let name = "class_member.update"
    package typealias Reply = ClassMember

    package let classID: ObjectID
    package let account: AccountName
    package let role: ClassRole

    package init(of account: AccountName, in classID: ObjectID, to role: ClassRole) {
        self.classID = classID
        self.account = account
        self.role = role
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, role
        case classID = "class"
    }

    package func check() throws(SchemaViolation) {
        guard role != .professor else { throw SchemaViolation(CodingKeys.role, "expected \"student\" or \"ta\"") }
    }
}

/// `class_member.remove`: a person is not in the class any more, as after ``LeaveClass``. For the professor; the audit log has
/// it. Repeated, it changes nothing. `conflict` for the professor.
package struct RemoveClassMember: Command {
    package static let name = "class_member.remove"
    package typealias Reply = Done

    package let classID: ObjectID
    package let account: AccountName

    package init(_ account: AccountName, from classID: ObjectID) {
        self.classID = classID
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
        case classID = "class"
    }
}

// The commands of the operator. They need no person.

/// `class.all`: all classes in the order of their ids, page by page, with what the operator needs to tell them apart.
package struct ListAllClasses: Command, Checked {
    package static let name = "class.all"

    package struct Entry: Codable, Hashable, Sendable {
        package let id: ObjectID
        package let identificationKey: String
        package let name: String
        package let professor: AccountName?
        package let members: Int
        package let closed: UnixMilliseconds?

        package init(
            id: ObjectID, identificationKey: String, name: String, professor: AccountName?, members: Int,
            closed: UnixMilliseconds?
        ) {
            self.id = id
            self.identificationKey = identificationKey
            self.name = name
            self.professor = professor
            self.members = members
            self.closed = closed
        }

        private enum CodingKeys: String, CodingKey {
            case id, name, professor, members, closed
            case identificationKey = "identification_key"
        }
    }

    package struct Reply: Codable, Hashable, Sendable {
        package let classes: [Entry]
        /// The `after` of the next page; absent on the last one.
        package let next: String?

        package init(classes: [Entry], next: String?) {
            self.classes = classes
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

/// `class.give`: makes another account the professor of a class. The professor until then stays as a teaching assistant. The
/// caller of the command has checked that there is such an account, with the professor's mark. The audit log has it.
package struct GiveClass: Command {
    package static let name = "class.give"
    package typealias Reply = ListAllClasses.Entry

    package let id: ObjectID
    package let account: AccountName

    package init(_ id: ObjectID, to account: AccountName) {
        self.id = id
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, account
    }
}
