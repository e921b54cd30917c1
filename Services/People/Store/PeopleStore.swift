import Schemas
import Store

/// A role of another version is stored as it is.
extension Role: IndexValue {}

/// The collections of the people service.
///
/// While only the reserve of the disk is left, people can still sign in and out, and accounts and tokens can be changed and ended,
/// but none can be added.
///
/// The collections about persons and their devices are declared beside their documents.
enum PeopleStore {
    static let role = Field("role", \AccountDocument.role)
    static let removed = Field("removed", \AccountDocument.removed)
    static let oidc = Field("oidc", \AccountDocument.oidc)
    static let oidcIssuer = Field("oidc_issuer", \AccountDocument.oidcIssuer)
    static let usedOn = Field("used_on", \AccountDocument.usedOn)

    static let accounts = Collection<AccountDocument>(
        "account",
        indexes: [.on(removed), .on(role), .on(role, removed), .on(role, usedOn), .unique(oidc, oidcIssuer)], reserve: .changes)

    static let signInAccount = Field("account", \SignInDocument.account)
    static let signInEnd = Field("expires", \SignInDocument.expires)

    static let signIns = Collection<SignInDocument>(
        "sign_in", indexes: [.on(signInAccount), .expiring(signInEnd)], reserve: .everything)

    static let tokenHash = Field("hash", \TokenDocument.hash)
    static let tokenAccount = Field("account", \TokenDocument.account)
    static let tokenEnd = Field("expires", \TokenDocument.expires)
    static let operatorToken = Field("operator", \TokenDocument.isOperator)

    static let tokens = Collection<TokenDocument>(
        "token", indexes: [.unique(tokenHash), .on(tokenAccount), .unique(operatorToken), .expiring(tokenEnd)],
        reserve: .changes)

    static let changeSequence = Field("sequence", \ChangeDocument.sequence)
    static let changeEnd = Field("expires", \ChangeDocument.expires)

    static let changes = Collection<ChangeDocument>(
        "people_change", indexes: [.unique(changeSequence), .expiring(changeEnd)], reserve: .everything)
    static let counter = Collection<ChangeCounter>("people_counter", reserve: .everything)

    static let keys = Collection<SealingKey>("people_key", reserve: .everything)

    static let declaration = StoreDeclaration(
        "people", accounts, signIns, tokens, changes, counter, keys, AuditStore.links, AuditStore.head, identities, devices,
        tokenEnds, tokenKeys, usedTokens, accessCodes, unusedChecks, profiles, friendships, preferences, queuedPushes, erasures,
        erasedNames, erases: true)
}
