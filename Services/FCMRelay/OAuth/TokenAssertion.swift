import FoundationEssentials
import JWTKit
import Schemas
import Time

/// The claims that a service account signs to get an access token (RFC 7523 with Google's rules).
struct TokenAssertion: JWTPayload, Equatable {
    static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// Google's maximum.
    static let lifetime: Seconds = 3_600

    let iss: String
    let scope: String
    let aud: String
    /// Unix seconds.
    let iat: Int64
    /// Unix seconds.
    let exp: Int64

    init(of account: ServiceAccount, now: UnixMilliseconds) {
        iss = account.clientEmail
        scope = Self.scope
        aud = account.tokenURI
        iat = now.seconds
        exp = iat + Self.lifetime.rawValue
    }

    /// Required by `JWTPayload`. The token endpoint verifies the claims.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// The signed token: RS256, with the key's id in its header.
    func signed(by account: ServiceAccount) async throws -> String {
        let keys = JWTKeyCollection()
        let id = JWKIdentifier(string: account.privateKeyID)
        await keys.add(rsa: account.privateKey, digestAlgorithm: .sha256, kid: id)
        return try await keys.sign(self, kid: id)
    }
}
