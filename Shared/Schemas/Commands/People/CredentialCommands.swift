package import Base

/// `credential.find`: the sign-in or token with this hash; `not_found` if there is none, if it has expired, or if its account is
/// disabled or removed.
package struct FindCredential: Command {
    package static let name = "credential.find"
    package typealias Reply = Credential

    package let hash: CredentialHash

    package init(hash: CredentialHash) {
        self.hash = hash
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hash
    }
}

/// `credential.list`: one page of the sign-ins and tokens that are valid now, for a holder of copies.
package struct ListCredentials: Command, Checked {
    package static let name = "credential.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let credentials: [HashedCredential]
        /// Where the next page begins; absent on the last one.
        package let next: String?

        package init(credentials: [HashedCredential], next: String?) {
            self.credentials = credentials
            self.next = next
        }
    }

    package let limit: Int
    /// The `next` of the previous page; `nil` for the first one.
    package let after: String?

    package init(limit: Int, after: String? = nil) {
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, after
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.page.check(limit, CodingKeys.limit)
    }
}

/// A credential with the hash by which it is found.
package struct HashedCredential: Codable, Hashable, Sendable {
    package let hash: CredentialHash
    package let credential: Credential

    package init(hash: CredentialHash, credential: Credential) {
        self.hash = hash
        self.credential = credential
    }
}

/// `credential.used`: the latest uses of credentials. A use extends a sign-in; a token shows it. Unknown ones are ignored.
package struct ReportUses: Command, Checked {
    package static let name = "credential.used"
    package typealias Reply = Done

    package struct Use: Codable, Checked, Hashable, Sendable {
        package let hash: CredentialHash
        package let at: UnixMilliseconds
        /// The client's network address.
        package let address: String

        package init(hash: CredentialHash, at: UnixMilliseconds, address: String) {
            self.hash = hash
            self.at = at
            self.address = address
        }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case hash, at, address
        }

        package func check() throws(SchemaViolation) {
            try (0...maximumUnixMilliseconds).check(at, CodingKeys.at)
            try PeopleLimits.address.check(address, CodingKeys.address)
        }
    }

    /// At most ``PeopleLimits/maxUses``.
    package let uses: [Use]

    package init(uses: [Use]) {
        self.uses = uses
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case uses
    }

    package func check() throws(SchemaViolation) {
        guard uses.count <= PeopleLimits.maxUses else {
            throw SchemaViolation(CodingKeys.uses, "expected at most \(PeopleLimits.maxUses) uses, found \(uses.count)")
        }
    }
}

/// Changes of credentials: those with the numbers after ``after``, up to ``sequence``.
///
/// As the event `people.changed` they are the latest changes. It is sent after each change, and repeated every second. A holder of
/// copies of credentials that has applied all changes up to ``after`` applies these without another request. Otherwise it reads the
/// missing ones by ``ReadPeopleChanges``.
package struct PeopleChanged: Codable, Hashable, Sendable {
    package static let name = "people.changed"
    /// The maximum number of changes in an answer or in an event.
    package static let maxChanges = 1_000
    /// The maximum number of changes in a repeated event.
    package static let maxRepeated: Int64 = 50

    /// The number of changes so far.
    package let sequence: Int64
    package let after: Int64
    /// Each change, in their order; empty with ``all``.
    package let changes: [CredentialChange]
    /// `true` if the service does not know these changes, or they are too many: any credential may have changed. Absent otherwise.
    package let all: Bool?

    /// The changes after a number.
    package init(_ changes: [CredentialChange] = [], after: Int64) {
        sequence = after + Int64(changes.count)
        self.after = after
        self.changes = changes
        all = nil
    }

    /// Any credential may have changed.
    package init(allUpTo sequence: Int64, after: Int64) {
        self.sequence = sequence
        self.after = after
        changes = []
        all = true
    }
}

/// A change that holders of copies of credentials must learn of: `{"account":"ann","ended":true}`.
package struct CredentialChange: Codable, Hashable, Sendable {
    /// All credentials of this account may have changed.
    package let account: AccountName?
    /// This credential may have changed, or is new.
    package let credential: CredentialHash?
    /// `true` if they have ended for good; absent otherwise.
    package let ended: Bool?

    package init(of account: AccountName, ended: Bool = false) {
        self.account = account
        credential = nil
        self.ended = ended ? true : nil
    }

    package init(of credential: CredentialHash, ended: Bool = false) {
        account = nil
        self.credential = credential
        self.ended = ended ? true : nil
    }
}

/// `people.changes`: what has changed since a sequence number.
package struct ReadPeopleChanges: Command, Checked {
    package static let name = "people.changes"
    package typealias Reply = PeopleChanged

    /// From 0.
    package let after: Int64

    package init(after: Int64) {
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case after
    }

    package func check() throws(SchemaViolation) {
        try (0...Int64.max).check(after, CodingKeys.after)
    }
}
