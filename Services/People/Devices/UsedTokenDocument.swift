import Base
import Schemas
import Store

/// A token of a provider that was used to sign in or to register. It belongs to the device that used it first, so nobody else can use it
/// until it ends.
struct UsedTokenDocument: StoredDocument, Hashable {
    /// The SHA-256 of the token; of an ID token without its signature.
    let id: String
    /// Of the device's key.
    let thumbprint: String
    let expires: UnixMilliseconds

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case thumbprint, expires
    }

    /// - Parameter expires: When the provider's token ends.
    init(_ token: Secret, by device: String, expires: UnixMilliseconds) {
        id = CredentialHash(of: token).description
        thumbprint = device
        self.expires = expires
    }
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
