package import JSON

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
