import JSON

/// The refusal of a token request (RFC 6749, section 5.2), always with HTTP status 400.
struct OAuthError: Error, Hashable {
    let code: String
    let description: String

    init(_ code: String, _ description: String) {
        self.code = code
        self.description = description
    }

    static func invalidGrant(_ description: String) -> OAuthError {
        OAuthError("invalid_grant", description)
    }

    /// A request whose times do not fit Google's clock.
    static let skewedClock = invalidGrant(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
            + "Check your iat and exp values in the JWT claim.")

    static func invalidRequest(_ description: String) -> OAuthError {
        OAuthError("invalid_request", description)
    }

    var document: JSONValue {
        ["error": .string(code), "error_description": .string(description)]
    }
}
