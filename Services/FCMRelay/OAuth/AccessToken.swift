import FoundationEssentials

/// The sender's credential for FCM. It is a secret: its descriptions do not contain it, and it must not be logged.
struct AccessToken: Hashable, Sendable {
    let value: String
    /// The header lines of a JSON request with the token, made once for all requests.
    let headers: [String]

    init(value: String) {
        self.value = value
        headers = [JSONRequests.contentType, "authorization: Bearer \(value)"]
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "an access token" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An access token and its lifetime.
struct GrantedToken: Hashable, Sendable {
    let token: AccessToken
    let lifetime: Duration
}

/// Why there is no access token.
struct TokenFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence, at most 200 characters.
    let description: String
    /// The minimum wait before the next request for a token.
    var retryAfter: Duration?

    init(_ description: String, retryAfter: Duration? = nil) {
        self.description = String(description.prefix(200))
        self.retryAfter = retryAfter
    }
}
