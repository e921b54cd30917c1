package import Base

// The commands about the keys of a class. The header's `actor` is required: it is the class's professor, for whom alone they are.
// Other persons of the class get `forbidden`, and everybody else `not_found`. The audit log has each change, without the code.

/// `class_key.list`: the keys of a class that have neither expired nor been revoked, the newest first.
package struct ListClassKeys: Command {
    package static let name = "class_key.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let keys: [ClassKey]

        package init(keys: [ClassKey]) {
            self.keys = keys
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

/// The body of `POST /classes/{id}/keys`.
package struct ClassKeyDraft: Codable, Checked, Hashable, Sendable {
    /// Students or teaching assistants.
    package let role: ClassRole
    /// Absent for any number.
    package let uses: Int?
    /// Absent for never.
    package let expires: UnixMilliseconds?

    package init(role: ClassRole, uses: Int? = nil, expires: UnixMilliseconds? = nil) {
        self.role = role
        self.uses = uses
        self.expires = expires
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case role, uses, expires
    }

    package func check() throws(SchemaViolation) {
        guard role != .professor else {
            throw SchemaViolation(
                CodingKeys.role, "expected \"student\" or \"ta\": nobody becomes the professor of a class by a key")
        }
        try StudyLimits.keyUses.check(uses, CodingKeys.uses)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
    }
}

/// `class_key.add`: a new key. `conflict` if the class has too many. A repeated command with the same request key gets the same
/// key.
package struct AddClassKey: Command, Checked {
    package static let name = "class_key.add"
    package typealias Reply = ClassKey

    package let classID: ObjectID
    package let draft: ClassKeyDraft
    package let requestKey: String?

    package init(to classID: ObjectID, _ draft: ClassKeyDraft, requestKey: String? = nil) {
        self.classID = classID
        self.draft = draft
        self.requestKey = requestKey
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case draft
        case classID = "class"
        case requestKey = "request_key"
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.idempotencyKey.check(requestKey, CodingKeys.requestKey)
    }
}

/// `class_key.replace`: another code in the place of one, with the same role and limits. Its uses are counted from 0. The earlier
/// code is worth nothing from then on; who has joined with it stays.
package struct ReplaceClassKey: Command {
    package static let name = "class_key.replace"
    package typealias Reply = ClassKey

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

/// `class_key.remove`: revokes a key. `not_found` if there is none. Who has joined with it stays.
package struct RemoveClassKey: Command {
    package static let name = "class_key.remove"
    package typealias Reply = Done

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
