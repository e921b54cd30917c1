/// A bearer token for a script or a portal, without its secret.
package struct Token: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let name: String
    /// The account that the token acts for. The token ends with it.
    package let account: AccountName
    /// The token's rights. It has those of them that the account's role has as well.
    package let rights: [AccountRight]
    /// The parts of the cube for which it may send and read; `nil` for no restriction.
    package let scope: [TopicPrefix]?
    package let created: UnixMilliseconds
    /// `nil` for no end.
    package let expires: UnixMilliseconds?
    /// Whether it is the operator's token, in the file `token` of the state directory.
    package let isOperator: Bool
    /// The time of the last use, half a minute late at most.
    package let lastUsed: UnixMilliseconds?
    /// The client's network address at the last use.
    package let lastAddress: String?

    package init(
        id: ObjectID, name: String, account: AccountName, rights: [AccountRight], scope: [TopicPrefix]?,
        created: UnixMilliseconds, expires: UnixMilliseconds?, isOperator: Bool, lastUsed: UnixMilliseconds?,
        lastAddress: String?
    ) {
        self.id = id
        self.name = name
        self.account = account
        self.rights = rights
        self.scope = scope
        self.created = created
        self.expires = expires
        self.isOperator = isOperator
        self.lastUsed = lastUsed
        self.lastAddress = lastAddress
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, account, rights, scope, created, expires
        case isOperator = "operator"
        case lastUsed = "last_used"
        case lastAddress = "last_address"
    }
}
