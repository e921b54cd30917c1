package import Base

/// What an access code of a super user is for.
package enum AccessGrant: String, ClosedEnum {
    /// The professor's mark, for an account that exists or registers.
    case professor
    /// A registration, where that needs a code.
    case account
}

/// An access code without its secret.
package struct AccessCode: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let grants: AccessGrant
    /// A note of the super user; absent for none.
    package let note: String?
    /// How often it may be used, and how often it was.
    package let uses: Int
    package let used: Int
    package let created: UnixMilliseconds
    package let expires: UnixMilliseconds

    package init(
        id: ObjectID, grants: AccessGrant, note: String?, uses: Int, used: Int, created: UnixMilliseconds,
        expires: UnixMilliseconds
    ) {
        self.id = id
        self.grants = grants
        self.note = note
        self.uses = uses
        self.used = used
        self.created = created
        self.expires = expires
    }
}

/// `access_code.add`: a new code. The answer is the only one that has its secret.
package struct AddAccessCode: Command, Checked {
    package static let name = "access_code.add"

    package struct Reply: Codable, Hashable, Sendable {
        package let accessCode: AccessCode
        package let code: Secret

        package init(accessCode: AccessCode, code: Secret) {
            self.accessCode = accessCode
            self.code = code
        }

        private enum CodingKeys: String, CodingKey {
            case code
            case accessCode = "access_code"
        }
    }

    package let grants: AccessGrant
    package let note: String?
    package let uses: Int
    package let expires: UnixMilliseconds

    package init(grants: AccessGrant, note: String? = nil, uses: Int, expires: UnixMilliseconds) {
        self.grants = grants
        self.note = note
        self.uses = uses
        self.expires = expires
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case grants, note, uses, expires
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.tokenName.check(note, CodingKeys.note)
        try PersonLimits.accessCodeUses.check(uses, CodingKeys.uses)
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
    }
}

/// `access_code.list`: the codes that can still be used, the newest first.
package struct ListAccessCodes: Command {
    package static let name = "access_code.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let accessCodes: [AccessCode]

        package init(accessCodes: [AccessCode]) {
            self.accessCodes = accessCodes
        }

        private enum CodingKeys: String, CodingKey {
            case accessCodes = "access_codes"
        }
    }

    package init() {}
}

/// `access_code.remove`: ends a code. `not_found` if there is none.
package struct RemoveAccessCode: Command {
    package static let name = "access_code.remove"
    package typealias Reply = Done

    package let id: ObjectID

    package init(_ id: ObjectID) {
        self.id = id
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id
    }
}

/// `access_code.use`: gives the account of the header's `actor` what the code grants. `forbidden` with the field `code` if it is unknown or
/// used up; attempts are limited as those of passwords. Of one that gives what the account has already, nothing is used.
package struct UseAccessCode: Command, Checked {
    package static let name = "access_code.use"
    package typealias Reply = Person

    package let code: Secret
    /// The client's network address.
    package let address: String

    package init(code: Secret, address: String) {
        self.code = code
        self.address = address
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case code, address
    }

    package func check() throws(SchemaViolation) {
        if let problem = PersonLimits.accessCode.problem(with: code.text) { throw SchemaViolation(CodingKeys.code, problem) }
        try PeopleLimits.address.check(address, CodingKeys.address)
    }
}
