package import Base
import Crypto
import CryptoExtras
import FoundationEssentials
package import Schemas

/// The key pair of a provider in tests. It signs ID tokens, right ones and wrong ones.
package struct TestIdentities: Sendable {
    /// How a token is signed.
    package enum Signing: Hashable, Sendable {
        /// As providers sign, RS256.
        case right
        case pss
        /// HS256, with the public key as the secret that both would have.
        case publicKey
        case nothing
    }

    package let keyID: String
    private let key: _RSA.Signing.PrivateKey

    /// - Throws: An error of the cryptography.
    package init(keyID: String = "1") throws {
        self.keyID = keyID
        key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    }

    /// The public key as a JSON Web Key, such as providers publish.
    ///
    /// - Throws: An error of the cryptography.
    package var jwk: JSONValue {
        get throws {
            let numbers = try key.publicKey.getKeyPrimitives()
            return [
                "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(keyID), "n": .string(numbers.modulus.base64URL),
                "e": .string(numbers.publicExponent.base64URL),
            ]
        }
    }

    /// A token.
    ///
    /// - Parameters:
    ///   - header: Further fields of the header, or other ones; null removes one.
    ///   - claims: As they are signed.
    /// - Throws: An error of the cryptography.
    package func token(_ claims: JSONValue, header: JSONValue = [:], signing: Signing = .right) throws -> String {
        let head = JSONValue.changed(["alg": "RS256", "kid": .string(keyID), "typ": "JWT"], header)
        return try token(header: head.text, claims: claims.text, signing: signing)
    }

    /// A token of texts that need not be valid.
    package func token(header: String, claims: String, signing: Signing = .right) throws -> String {
        let signed = Data(header.utf8).base64URL + "." + Data(claims.utf8).base64URL
        let digest = SHA256.hash(data: Data(signed.utf8))
        let signature: Data =
            switch signing {
            case .right: try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation
            case .pss: try key.signature(for: digest, padding: .PSS).rawRepresentation
            case .publicKey:
                Data(
                    HMAC<SHA256>.authenticationCode(
                        for: Data(signed.utf8), using: SymmetricKey(data: Data(key.publicKey.pemRepresentation.utf8))))
            case .nothing: Data()
            }
        return signed + "." + signature.base64URL
    }
}

extension JSONValue {
    /// An object with other values in some fields. Null removes a field.
    package static func changed(_ object: JSONValue, _ changes: JSONValue) -> JSONValue {
        var changed = object
        for member in changes.members ?? [] { changed[member.name] = member.value == .null ? nil : member.value }
        return changed
    }
}

/// The claims of ID tokens as the providers make them.
package enum TestClaims {
    package static let googleClient = "web.apps.example"
    /// A native app's, for which Google makes tokens whose audience is the web app.
    package static let androidClient = "android.apps.example"
    package static let firebaseProject = "campus"
    package static let universityIssuer = "http://127.0.0.1:1"
    package static let universityClient = "hub"
    package static let universityApp = "campus-app"

    /// The settings of a people service that takes them. The university's provider does not answer.
    package static let settings = [
        "MSI_GOOGLE_CLIENT_IDS": "\(googleClient),\(androidClient)", "MSI_FIREBASE_PROJECT": firebaseProject,
        "MSI_OIDC_ISSUER": universityIssuer, "MSI_OIDC_CLIENT_ID": universityClient,
        "MSI_OIDC_APP_CLIENT_IDS": universityApp,
    ]

    package static func google(_ subject: String, at now: UnixMilliseconds) -> JSONValue {
        [
            "iss": "https://accounts.google.com", "azp": .string(googleClient), "aud": .string(googleClient),
            "sub": .string(subject), "email": .string("\(subject)@example.edu"), "email_verified": true,
            "iat": .integer(now.seconds), "exp": .integer(now.seconds + 3_600),
        ]
    }

    package static func firebase(_ subject: String, at now: UnixMilliseconds) -> JSONValue {
        [
            "iss": .string("https://securetoken.google.com/" + firebaseProject), "aud": .string(firebaseProject),
            "sub": .string(subject), "user_id": .string(subject), "auth_time": .integer(now.seconds),
            "iat": .integer(now.seconds), "exp": .integer(now.seconds + 3_600), "email": .string("\(subject)@example.edu"),
            "email_verified": true, "firebase": ["identities": [:], "sign_in_provider": "password"],
        ]
    }

    package static func university(_ subject: String, at now: UnixMilliseconds) -> JSONValue {
        [
            "iss": .string(universityIssuer), "aud": .string(universityApp), "sub": .string(subject),
            "iat": .integer(now.seconds), "exp": .integer(now.seconds + 300),
        ]
    }
}
