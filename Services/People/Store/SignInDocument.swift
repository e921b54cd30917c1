import Schemas
import Storage

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
