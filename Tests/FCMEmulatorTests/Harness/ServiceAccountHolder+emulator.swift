import Foundation
import JWTKit
import NIOHTTP1

/// A server that holds the key file, as the relay will.
struct TestAccount {
    let clientEmail: String
    let tokenURI: String
    private let privateKey: String

    init(in folder: TemporaryFolder) throws {
        struct KeyFile: Decodable {
            let clientEmail: String
            let tokenURI: String
            let privateKey: String

            enum CodingKeys: String, CodingKey {
                case clientEmail = "client_email"
                case tokenURI = "token_uri"
                case privateKey = "private_key"
            }
        }
        let file = try JSONDecoder().decode(KeyFile.self, from: Data(try folder.text(of: "service-account.json").utf8))
        clientEmail = file.clientEmail
        tokenURI = file.tokenURI
        privateKey = file.privateKey
    }

    struct Claims: JWTPayload {
        var iss: String?
        var scope: String?
        var aud: String?
        var iat: Int?
        var exp: Int?

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// The claims of a request that is right in every way.
    var claims: Claims {
        let now = Int(Date().timeIntervalSince1970)
        return Claims(
            iss: clientEmail, scope: "https://www.googleapis.com/auth/firebase.messaging", aud: tokenURI, iat: now,
            exp: now + 3_600)
    }

    func sign(_ claims: Claims, digest: DigestAlgorithm = .sha256) async throws -> String {
        try await Self.sign(claims, with: Insecure.RSA.PrivateKey(pem: privateKey), digest: digest)
    }

    static func sign(
        _ claims: Claims, with key: Insecure.RSA.PrivateKey, digest: DigestAlgorithm = .sha256
    ) async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(rsa: key, digestAlgorithm: digest)
        return try await keys.sign(claims)
    }

    /// A good access token.
    func accessToken(from client: EmulatorClient) async throws -> String {
        let answer = try await client.requestToken(assertion: try await sign(claims))
        return answer.json["access_token"] as? String ?? ""
    }
}

extension EmulatorClient {
    static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    func requestToken(assertion: String?, grantType: String? = jwtBearer) async throws -> Answer {
        var form: [String] = []
        if let grantType { form.append("grant_type=" + grantType.replacing(":", with: "%3A")) }
        if let assertion { form.append("assertion=" + assertion) }
        return try await call(
            .POST, "/token", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.joined(separator: "&").utf8))
    }
}
