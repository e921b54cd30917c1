import JSONSchema

/// The answer of `GET /session/ways`: what a page for signing in offers.
struct SignInWays: Codable, Sendable {
    /// Always possible.
    let password: Bool
    /// Whether an OpenID Connect provider is set up.
    let provider: Bool
    /// Whether the request has the cookie of a valid sign-in.
    let signedIn: Bool

    private enum CodingKeys: String, CodingKey {
        case password, provider
        case signedIn = "signed_in"
    }
}

extension SignInWays: HasExample {
    static var example: SignInWays { SignInWays(password: true, provider: false, signedIn: false) }
}
