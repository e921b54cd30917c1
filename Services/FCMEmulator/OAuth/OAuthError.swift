/// A token request that is refused (RFC 6749, section 5.2), always with HTTP status 400.
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

    static func invalidRequest(_ description: String) -> OAuthError {
        OAuthError("invalid_request", description)
    }

    var document: JSONValue {
        ["error": .string(code), "error_description": .string(description)]
    }
}
