package import Base

/// `token.add`: a new bearer token. An account with ``PeopleLimits/maxTokens`` gets `conflict`.
package struct AddToken: Command, Checked {
    package static let name = "token.add"

    package struct Reply: Codable, Hashable, Sendable {
        package let token: Token
        /// `msi_` and 43 characters of URL-safe Base64. It is shown only here.
        package let secret: Secret

        package init(token: Token, secret: Secret) {
            self.token = token
            self.secret = secret
        }
    }

    /// The token's name, for its owner.
    package let title: String
    /// `nil` for the caller's.
    package let account: AccountName?
    /// At least one. The account's role must have each.
    package let rights: [AccountRight]
    package let scope: [TopicPrefix]?
    package let expires: UnixMilliseconds?

    package init(
        name: String, account: AccountName? = nil, rights: [AccountRight], scope: [TopicPrefix]? = nil,
        expires: UnixMilliseconds? = nil
    ) {
        title = name
        self.account = account
        self.rights = rights
        self.scope = scope
        self.expires = expires
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, rights, scope, expires
        case title = "name"
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.tokenName.check(title, CodingKeys.title)
        guard !rights.isEmpty else {
            throw SchemaViolation(
                CodingKeys.rights, "expected at least one right", limit: .range(1...Int64(AccountRight.allCases.count)))
        }
        guard Set(rights).count == rights.count else {
            throw SchemaViolation(CodingKeys.rights, "expected each right once", limit: .distinct)
        }
        if let scope {
            guard (1...PeopleLimits.maxScope).contains(Int64(scope.count)) else {
                throw SchemaViolation(
                    CodingKeys.scope, "expected 1 to \(PeopleLimits.maxScope) parts of the cube, found \(scope.count)",
                    limit: .range(1...PeopleLimits.maxScope))
            }
        }
        try (0...maximumUnixMilliseconds).check(expires, CodingKeys.expires)
    }
}

/// `token.list`: one page of the tokens, oldest first.
package struct ListTokens: Command, Checked {
    package static let name = "token.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let tokens: [Token]
        /// Where the next page begins; absent on the last one.
        package let next: String?

        package init(tokens: [Token], next: String?) {
            self.tokens = tokens
            self.next = next
        }
    }

    /// Only this account's tokens; `nil` for all.
    package let account: AccountName?
    package let limit: Int
    /// The `next` of the previous page; `nil` for the first one.
    package let after: String?

    package init(account: AccountName? = nil, limit: Int, after: String? = nil) {
        self.account = account
        self.limit = limit
        self.after = after
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, limit, after
    }

    package func check() throws(SchemaViolation) {
        try PeopleLimits.page.check(limit, CodingKeys.limit)
    }
}

/// `token.remove`: revokes a token.
package struct RemoveToken: Command {
    package static let name = "token.remove"
    package typealias Reply = Done

    package let id: ObjectID
    /// If it is given, another account's token is `not_found`.
    package let account: AccountName?

    package init(_ id: ObjectID, account: AccountName? = nil) {
        self.id = id
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, account
    }
}
