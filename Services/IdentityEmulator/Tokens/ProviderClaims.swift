import Base
import Schemas

/// The claims of the tokens that the providers issue.
enum ProviderClaims {
    /// How long an ID token is valid, in seconds.
    private static let lifetime: Int64 = 3_600
    /// How long a user's access token of Facebook is valid, in seconds: two hours, as from the web.
    static let accessTokenLifetime: Int64 = 7_200

    /// The claims of an ID token of Google.
    ///
    /// - Parameter scopes: What the app has asked for. Without `email` and `profile` the claims of these are missing.
    static func google(
        _ person: EmulatedPerson, nonce: String? = nil, scopes: Set<String> = ["openid", "email", "profile"],
        now: UnixMilliseconds
    ) -> JSONValue {
        var claims = person.claims
        if !scopes.contains("email") { for name in ["email", "email_verified"] { claims[name] = nil } }
        if !scopes.contains("profile") {
            for name in ["name", "given_name", "family_name", "picture", "locale"] { claims[name] = nil }
        }
        if let nonce { claims["nonce"] = .string(nonce) }
        return claims.changed(by: [
            "iss": "https://accounts.google.com", "azp": .string(Provider.google.audience),
            "aud": .string(Provider.google.audience), "sub": .string(person.sub), "iat": .integer(now.seconds),
            "exp": .integer(now.seconds + lifetime), "jti": .string(randomText()),
        ])
    }

    /// The claims of an ID token of Firebase, of a person who has just signed in with a password.
    static func firebase(_ person: EmulatedPerson, now: UnixMilliseconds) -> JSONValue {
        let project = Provider.firebase.audience
        let identities: JSONValue = person.email.map { ["email": [.string($0)]] } ?? [:]
        return person.claims.changed(by: [
            "iss": .string("https://securetoken.google.com/\(project)"), "aud": .string(project),
            "auth_time": .integer(now.seconds), "user_id": .string(person.sub), "sub": .string(person.sub),
            "iat": .integer(now.seconds), "exp": .integer(now.seconds + lifetime),
            "firebase": ["identities": identities, "sign_in_provider": "password"],
            // Firebase's tokens have no such claim. Without it, two sign-ins of a person within a second would get the same token.
            "emulator_id": .string(randomText()),
        ])
    }

    /// What Facebook knows of a user's access token.
    static func facebook(_ person: EmulatedPerson, now: UnixMilliseconds) -> JSONValue {
        [
            "app_id": .string(Provider.facebook.audience), "type": "USER", "application": "The hub",
            "data_access_expires_at": .integer(now.seconds + 90 * 86_400),
            "expires_at": .integer(now.seconds + accessTokenLifetime), "is_valid": true,
            "scopes": ["email", "public_profile"], "user_id": .string(person.sub),
        ]
    }

    private static func randomText() -> String { (0..<20).map { _ in UInt8.random(in: 0...255) }.hexadecimal }
}
