import JWTKit
import Schemas

/// The claims of a signed token request (Google's OAuth 2.0 for service accounts). ``AssertionRules`` checks them; a missing
/// claim has its own error.
struct Assertion: JWTPayload {
    let iss: String?
    let scope: String?
    let aud: String?
    /// Unix seconds.
    let iat: Double?
    /// Unix seconds.
    let exp: Double?

    func verify(using algorithm: some JWTAlgorithm) {}
}

/// Google's rules for the claims of a token request with a valid signature.
struct AssertionRules {
    let issuer: String
    let audience: String

    /// The audience that Google's own libraries claim. They ignore the key file's `token_uri`.
    private static let googlesAudience = "https://oauth2.googleapis.com/token"
    /// How far a client's clock may be ahead, in seconds. Google does not document its own tolerance.
    private static let skew: Double = 60
    private static let maxLifetime: Double = 3_600

    /// The first rule that a request breaks, or `nil`.
    func violation(by assertion: Assertion, now: UnixMilliseconds) -> OAuthError? {
        let seconds = Double(now.rawValue) / 1_000
        guard let issuer = assertion.iss, issuer == self.issuer else {
            return .invalidGrant("Invalid grant: account not found")
        }
        guard let audience = assertion.aud, [self.audience, Self.googlesAudience].contains(audience) else {
            return .invalidGrant("Invalid JWT: Failed audience check. The right audience is \(self.audience)")
        }
        guard let issued = assertion.iat, let expires = assertion.exp, issued.isFinite, expires.isFinite,
            expires > issued, expires - issued <= Self.maxLifetime, issued <= seconds + Self.skew, expires > seconds
        else { return .skewedClock }
        guard !assertion.scopes.isEmpty else {
            return OAuthError("invalid_scope", "Empty or missing scope not allowed.")
        }
        guard assertion.scopes.allSatisfy(\.isGoogleScope) else {
            return OAuthError("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        }
        return nil
    }
}

extension Assertion {
    private static let messaging: Set<Substring> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]

    fileprivate var scopes: [Substring] { scope?.split(separator: " ") ?? [] }

    /// Whether FCM accepts a token with these scopes. The endpoint issues tokens for other scopes as well; FCM refuses them.
    var isForMessaging: Bool { scopes.contains(where: Self.messaging.contains) }
}

extension Substring {
    /// Whether a scope has Google's form.
    fileprivate var isGoogleScope: Bool {
        hasPrefix("https://www.googleapis.com/auth/") || ["openid", "email", "profile"].contains(self)
    }
}
