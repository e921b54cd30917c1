import Schemas
import Store

/// A sign-in as it is stored.
struct SignInDocument: StoredDocument, Hashable {
    /// The credential's hash.
    let id: String
    /// In the credential.
    let number: ObjectID
    /// The account's name in lower case.
    let account: String
    let created: UnixMilliseconds
    var expires: UnixMilliseconds
    /// The client's network address when it signed in.
    let address: String
    var confirmedUntil: UnixMilliseconds?
    /// Present while the account's second factor has not been shown, after a sign-in at the OpenID Connect provider.
    var lacksCode: Bool?
    /// Present if the OpenID Connect provider has checked a second factor, which replaces the account's.
    var hasProvidersFactor: Bool?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case number, account, created, expires, address
        case confirmedUntil = "confirmed_until"
        case lacksCode = "lacks_code"
        case hasProvidersFactor = "oidc_second_factor"
    }

    init(hash: CredentialHash, account: AccountName, address: String, now: UnixMilliseconds) {
        id = hash.description
        number = ObjectID()
        self.account = account.key
        created = now
        expires = now + PeopleLimits.signInIdleLimit
        self.address = address
    }

    /// It was used at a time. A time in the future has no effect beyond that of `now`.
    mutating func used(at time: UnixMilliseconds, now: UnixMilliseconds) {
        expires = max(expires, min(min(time, now) + PeopleLimits.signInIdleLimit, maxExpires))
    }

    /// Its latest end, however much it is used.
    var maxExpires: UnixMilliseconds { created + PeopleLimits.maxSignInDuration }
}

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
