import Schemas
import Storage

/// A bearer token as it is stored.
struct TokenDocument: StoredDocument, Hashable {
    let id: ObjectID
    let hash: String
    let name: String
    /// The account's name in lower case.
    let account: String
    let rights: [AccountRight]
    let scope: [TopicPrefix]?
    let created: UnixMilliseconds
    let expires: UnixMilliseconds?
    /// Present on the operator's token only, of which there is one.
    let isOperator: Bool?
    var lastUsed: UnixMilliseconds?
    var lastAddress: String?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case hash, name, account, rights, scope, created, expires
        case isOperator = "operator"
        case lastUsed = "last_used"
        case lastAddress = "last_address"
    }

    init(
        hash: CredentialHash, name: String, account: AccountName, rights: [AccountRight], scope: [TopicPrefix]? = nil,
        expires: UnixMilliseconds? = nil, isOperator: Bool = false, now: UnixMilliseconds
    ) {
        id = ObjectID()
        self.hash = hash.description
        self.name = name
        self.account = account.key
        self.rights = rights
        self.scope = scope
        created = now
        self.expires = expires
        self.isOperator = isOperator ? true : nil
    }

    /// Without its hash.
    ///
    /// - Parameter account: Its account.
    func token(of account: AccountDocument) -> Token {
        Token(
            id: id, name: name, account: account.name, rights: rights, scope: scope, created: created,
            expires: account.end(of: self),
            isOperator: isOperator ?? false, lastUsed: lastUsed, lastAddress: lastAddress)
    }
}
