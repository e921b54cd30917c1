import FoundationEssentials
package import JWTKit

/// A server that holds a service account's key file, and asks for access tokens with it.
package struct ServiceAccountHolder: Sendable {
    package let clientEmail: String
    package let tokenURI: String
    private let privateKey: String

    private struct KeyFile: Decodable {
        let clientEmail: String
        let tokenURI: String
        let privateKey: String

        private enum CodingKeys: String, CodingKey {
            case clientEmail = "client_email"
            case tokenURI = "token_uri"
            case privateKey = "private_key"
        }
    }

    /// The claims of a token request. A claim that is `nil` is left out.
    package struct Claims: JWTPayload {
        package var iss: String?
        package var scope: String?
        package var aud: String?
        /// Unix seconds.
        package var iat: Int?
        /// Unix seconds.
        package var exp: Int?

        package func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// - Parameter file: The path of the key file.
    package init(file: String) throws {
        let content = try JSONDecoder().decode(KeyFile.self, from: Data(contentsOf: URL(filePath: file)))
        clientEmail = content.clientEmail
        tokenURI = content.tokenURI
        privateKey = content.privateKey
    }

    /// The claims of a correct request for an access token that may send messages.
    package var claims: Claims {
        let now = Int(Date().timeIntervalSince1970)
        return Claims(
            iss: clientEmail, scope: "https://www.googleapis.com/auth/firebase.messaging", aud: tokenURI, iat: now,
            exp: now + 3_600)
    }

    /// Signs claims with the account's key.
    package func sign(_ claims: Claims, digest: DigestAlgorithm = .sha256) async throws -> String {
        try await Self.sign(claims, with: Insecure.RSA.PrivateKey(pem: privateKey), digest: digest)
    }

    /// Signs claims with any key.
    package static func sign(
        _ claims: Claims, with key: Insecure.RSA.PrivateKey, digest: DigestAlgorithm = .sha256
    ) async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(rsa: key, digestAlgorithm: digest)
        return try await keys.sign(claims)
    }

    /// The grant type of a signed request.
    package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    /// The form of a token request, without the fields that are `nil`.
    package static func form(assertion: String?, grantType: String? = grantType) -> String {
        let fields = [("grant_type", grantType?.replacing(":", with: "%3A")), ("assertion", assertion)]
        return fields.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: "&")
    }
}
