import Base
import Schemas
import Store

/// A token of a provider that was used to sign in or to register. It belongs to the device that used it first, so nobody else can use it
/// until it ends. Or a code that was exchanged, or a nonce that was used, which nobody can use again.
struct UsedTokenDocument: StoredDocument, Hashable {
    /// The SHA-256 of the token; of an ID token without its signature.
    let id: String
    /// Of the device's key. That of a nonce is empty.
    let thumbprint: String
    let expires: UnixMilliseconds
    /// Only of a code of the university's provider.
    let code: ExchangedCode?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case thumbprint, expires, code
    }

    /// - Parameters:
    ///   - token: A token, or a code.
    ///   - expires: When the provider's token ends.
    init(_ token: Secret, by device: String, expires: UnixMilliseconds, code: ExchangedCode? = nil) {
        id = Self.id(of: token)
        thumbprint = device
        self.expires = expires
        self.code = code
    }

    init(_ nonce: Challenge) {
        // Not of the sealed text: another one may stand for the same bytes.
        id = "nonce \(nonce.id)"
        thumbprint = ""
        // The clocks of the instances and of the database may differ.
        expires = nonce.made + Challenge.lifetime + PeopleLimits.clockTolerance
        code = nil
    }

    static func id(of token: Secret) -> String { CredentialHash(of: token).description }
}

extension PeopleStore {
    static let usedTokenDevice = Field("thumbprint", \UsedTokenDocument.thumbprint)
    static let usedTokenExpiry = Field("expires", \UsedTokenDocument.expires)

    static let usedTokens = Collection<UsedTokenDocument>(
        "used_token", indexes: [.on(usedTokenDevice), .expiring(usedTokenExpiry)], reserve: .everything)
}

extension Transaction {
    /// Remembers that a device uses a token.
    ///
    /// - Throws: ``IDTokenRefusal/replayed`` if another device has used it.
    func use(_ token: UsedTokenDocument) throws {
        guard let known = try get(token.id, from: PeopleStore.usedTokens)?.document else {
            try insert(token, into: PeopleStore.usedTokens)
            return
        }
        guard known.thumbprint == token.thumbprint else { throw IDTokenRefusal.replayed }
    }
}
